#pragma once

/* What a new process is to be, and the steps that lead there. */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/attributes.h"

/* A descriptor @from that is @to in the child. */
struct spawn_file {
	int from, to;
};

/* Beside 0, 1 and 2; for each there is a word on the child's stack. */
#define SPAWN_FILES_MAX 512

/* Room for the digits of a pid and a NUL. */
#define SPAWN_PID_MAX 12

#define SPAWN_STACK 65536

/* What to start, and as what.  All pointers are borrowed for the call. */
struct spawn_spec {
	char *const *argv;
	void *stack;   /* SPAWN_STACK bytes for the child, on a page; NULL: some of the caller's */
	char **script; /* room for argv and two more, to try argv[0] as a shell's script; or NULL */
	char *const *envp;     /* PATH in it is searched for argv[0] */
	const char *directory; /* or NULL: stay */
	int directory_fd;      /* likewise; 0 or less: stay */
	int umask;	       /* or -1: keep */
	bool set_user;	       /* take uid, gid and the groups below */
	bool set_group;	       /* take gid, and drop all groups but those below */
	bool set_groups;       /* take the groups below, whatever the user */
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t n_groups;
	bool keep_descriptors;	/* as they are, all that are not CLOEXEC; else only those below */
	bool share_descriptors; /* as spawn_can_share() says */
	int stdio[3];		/* descriptors to become 0, 1 and 2 */
	const struct spawn_file
		*files; /* further ones, 3 and above, each larger than the one before */
	size_t n_files; /* at most SPAWN_FILES_MAX, or the spawn fails */
	/*
	 * Where in @envp the child's own pid is to stand: SPAWN_PID_MAX bytes each; NULL: nowhere.
	 */
	char *pid_places[2];
	int cgroup;	    /* the directory of a control group to start in; 0: stay in ours */
	bool take_terminal; /* the session gets our standard input as its terminal */
	bool keep_session;  /* a process group in ours, rather than a session */
	int terminal;	    /* with it: the terminal whose foreground is handed over; -1 for none */
	int death_signal;   /* to get when @parent, who calls, ends; 0 for none */
	pid_t parent;
	const struct rlimit *descriptors;    /* RLIMIT_NOFILE, or NULL: keep */
	const struct attributes *attributes; /* or NULL */
	const sigset_t *mask;		     /* to start with */
	const sigset_t *ignored;	     /* to ignore */
};

enum spawn_step {
	SPAWN_STEP_NONE,
	SPAWN_STEP_CGROUP,
	SPAWN_STEP_SESSION,
	SPAWN_STEP_TERMINAL,
	SPAWN_STEP_STDIO,
	SPAWN_STEP_CLOSE,
	SPAWN_STEP_OOM_SCORE,
	SPAWN_STEP_NICE,
	SPAWN_STEP_IO_CLASS,
	SPAWN_STEP_CPUS,
	SPAWN_STEP_LIMIT,
	SPAWN_STEP_CAPABILITIES,
	SPAWN_STEP_GROUPS,
	SPAWN_STEP_GROUP,
	SPAWN_STEP_USER,
	SPAWN_STEP_NO_NEW_PRIVILEGES,
	SPAWN_STEP_DIRECTORY,
	SPAWN_STEP_PARENT,
	SPAWN_STEP_EXEC,
};

struct spawn_failure {
	enum spawn_step step;
	int error; /* errno */
	int limit; /* RLIMIT_..., of SPAWN_STEP_LIMIT */
};
