#pragma once

/*
 * What a new process does between clone and exec.
 *
 * It runs in the parent's memory while the parent is suspended (as after vfork): async-signal-safe
 * calls only, no allocation, no log, no write to anything but *failure.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What to start, and as what.  All pointers are borrowed for the call. */
struct spawn_spec {
	char *const *argv;
	char *const *envp;     /* PATH in it is searched for argv[0] */
	const char *directory; /* or NULL: stay */
	int umask;	       /* or -1: keep */
	bool set_user;	       /* take uid, gid and the groups below */
	bool set_group;	       /* take gid, and drop all other groups */
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t n_groups;
	int stdio[3];	     /* descriptors to become 0, 1 and 2 */
	int extra, extra_to; /* one more: @extra becomes @extra_to; -1 for none */
	int cgroup;	     /* the directory of a control group to start in; -1: stay in ours */
	bool foreground;     /* a process group in front of the terminal, rather than a session */
	const struct rlimit *descriptors; /* RLIMIT_NOFILE, or NULL: keep */
	const sigset_t *mask;		  /* to start with */
	const sigset_t *ignored;	  /* to ignore */
};

enum spawn_step {
	SPAWN_STEP_NONE,
	SPAWN_STEP_CGROUP,
	SPAWN_STEP_SESSION,
	SPAWN_STEP_STDIO,
	SPAWN_STEP_CLOSE,
	SPAWN_STEP_GROUPS,
	SPAWN_STEP_GROUP,
	SPAWN_STEP_USER,
	SPAWN_STEP_DIRECTORY,
	SPAWN_STEP_EXEC,
};

struct spawn_failure {
	enum spawn_step step;
	int error; /* errno */
};

/* Ends in execve, or writes *failure and exits with 127 or 126. */
_Noreturn void child_run(const struct spawn_spec *spec, struct spawn_failure *failure);
