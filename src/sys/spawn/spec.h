#pragma once

/* The specification of a new process, and the steps that make it run its program. */

#include "base/attributes.h"
#include "base/std.h"

/* A descriptor: number @from in the parent, @to in the child. */
struct spawn_file {
	int from, to;
};

/* Without 0, 1 and 2; the child's stack has a word for each, and for one more. */
#define SPAWN_FILES_MAX 512

/* Room for the digits of a pid and a NUL. */
#define SPAWN_PID_MAX 12

/* The steps of a child, and what a failed one could not do. */
#define SPAWN_STEPS(STEP)                                                                   \
	STEP(NONE, "start")                                                                 \
	STEP(CGROUP, "enter the control group")                                             \
	STEP(SESSION, "make a session")                                                     \
	STEP(TERMINAL, "take the terminal")                                                 \
	STEP(SIGNALS, "set the signals")                                                    \
	STEP(STDIO, "connect standard input and output")                                    \
	STEP(CLOSE, "close inherited descriptors")                                          \
	STEP(CHECK, "check")                                                                \
	STEP(MAKE, "make")                                                                  \
	STEP(COPY, "copy")                                                                  \
	STEP(REMOVE, "remove")                                                              \
	STEP(INPUT, "open")                                                                 \
	STEP(OOM_SCORE, "set oom-score-adjust")                                             \
	STEP(NICE, "set the nice value")                                                    \
	STEP(IO_CLASS, "set the I/O class")                                                 \
	STEP(CPUS, "set the CPU affinity")                                                  \
	STEP(LIMIT, "set the limits")                                                       \
	STEP(CAPABILITIES, "set the capabilities")                                          \
	STEP(ROOT, "enter the root")                                                        \
	STEP(GROUPS, "apply user, group or groups")                                         \
	STEP(GROUP, "apply user or group")                                                  \
	STEP(USER, "set the user")                                                          \
	STEP(NO_NEW_PRIVILEGES, "set no-new-privileges")                                    \
	STEP(DIRECTORY, "enter the directory")                                              \
	STEP(PARENT, "ask for a signal at our end")                                         \
	STEP(EXEC, "execute")                                                               \
	/* Of swansong-sandbox. */                                                          \
	STEP(SANDBOX, "execute swansong-sandbox")                                           \
	STEP(NETWORK, "apply private-network")                                              \
	STEP(MOUNTS, "make a mount namespace for private-tmp, private-devices, hide-home, " \
	     "read-only-system or protect")                                                 \
	STEP(WRITE_PATHS, "apply write-paths")                                              \
	STEP(PRIVATE_TMP, "apply private-tmp")                                              \
	STEP(HIDE_HOME, "apply hide-home")                                                  \
	STEP(READ_ONLY_SYSTEM, "apply read-only-system")                                    \
	STEP(READ_PATHS, "apply read-paths")                                                \
	STEP(TCP, "apply tcp-bind or tcp-connect")                                          \
	STEP(SYSTEM_CALLS, "apply protect, address-families or system-calls")               \
	STEP(PRIVATE_DEVICES, "apply private-devices")                                      \
	STEP(PRIVATE_USERS, "apply private-users")                                          \
	STEP(PROTECT, "apply protect")

enum spawn_step {
#define STEP(name, text) SPAWN_STEP_##name,
	SPAWN_STEPS(STEP)
#undef STEP
	N_SPAWN_STEPS,
};

struct spawn_spec;

/*
 * Work in place of a program, with the rights of the parent.  @run returns the exit status, SPAWN_WORK_EXECUTE: the
 * program is executed after all, or -errno.
 */
#define SPAWN_WORK_EXECUTE 256
struct spawn_work {
	enum spawn_step step;
	int (*run)(const struct spawn_spec *spec);
};

/* The program and its attributes.  All pointers are borrowed for the call. */
struct spawn_spec {
	char *const *argv;
	char *const *before;   /* words in front of argv, the first one of which is executed; or NULL */
	int report; /* with them, the number that they have for the report of the child */
	int program; /* a descriptor of @files, executed instead of the first word; 0: none */
	char *const *envp;     /* PATH in it is searched for argv[0] */
	bool script;	       /* run argv[0] by the shell if it has no #! */
	const struct spawn_work *work; /* NULL: execute the program */
	mode_t mode;		       /* for the work */
	const char *input;     /* a path to open as standard input, instead of stdio[0]; or NULL */
	int (*open_input)(const char *path, int flags, mode_t mode); /* as open(2), or -errno */
	const char *root;      /* or NULL: that of the parent */
	const char *directory; /* or NULL: stay, but not outside of a root */
	int directory_fd;      /* likewise; 0 or less: stay */
	int umask;	       /* or -1: keep */
	bool set_user;	       /* take uid, gid and the groups below */
	bool set_group;	       /* take gid, and drop all groups but those below */
	bool set_groups;       /* take the groups below, for every user */
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t n_groups;
	bool keep_descriptors; /* inherit all descriptors that are not CLOEXEC; else only those below */
	int stdio[3];	       /* descriptors to become 0, 1 and 2 */
	unsigned
		reopen; /* bits 1 << 1 and 1 << 2: an output that shares no flags with others; 1: both are one */
	const struct spawn_file
		*files; /* further ones, 3 and above, each larger than the one before */
	size_t n_files; /* at most SPAWN_FILES_MAX, or the spawn fails */
	/*
	 * Addresses in @envp for the digits of the child's pid, SPAWN_PID_MAX bytes each; or NULL.
	 */
	char *pid_places[2];
	int cgroup; /* the directory of the control group to start in; 0: the parent's group */
	/* A copy of the parent's memory: a group that is short of memory kills all that share it. */
	bool own_memory;
	bool take_terminal; /* standard input becomes the terminal of the session */
	bool keep_session;  /* a new process group in the parent's session, not a new session */
	int terminal; /* with keep_session: hand the foreground of this terminal over; -1: none */
	int death_signal; /* signal for the child when @parent, the caller, ends; 0: none */
	pid_t parent;
	const struct rlimit *descriptors;    /* RLIMIT_NOFILE, or NULL: keep */
	const struct rlimit *file_size;	     /* RLIMIT_FSIZE, or NULL: keep */
	const struct attributes *attributes; /* or NULL */
	const sigset_t *mask;		     /* to start with */
	const sigset_t *ignored;	     /* to ignore */
};

#define SPAWN_OOM_SCORE_KEPT (1U << RLIM_NLIMITS)
#define SPAWN_NICE_KEPT	     (2U << RLIM_NLIMITS)

struct spawn_failure {
	enum spawn_step step;
	int error; /* errno */
	/* Bits 1 << RLIMIT_... of hard limits that the parent may not raise, and SPAWN_..._KEPT. */
	unsigned lowered;
	uint64_t skipped; /* bits 1 << SPAWN_STEP_...: the kernel refuses them, and the child went on */
};
