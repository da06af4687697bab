#pragma once

/*
 * Starts processes with the configuration of a node: environment, output, credentials, limits.  The
 * process is the service itself or a command around it.
 */

#include "daemon/cgroup/control-group.h"
#include "daemon/spawn/chores.h"
#include "daemon/streams/activation.h"
#include "daemon/loop/process.h"
#include "daemon/logger/capture.h"

#define LAUNCH_E_FAILED 1 /* no process was made: *failure has the reason */

struct launch_failure {
	int error;	     /* errno */
	const char *step;    /* "execute" */
	const char *subject; /* the program of the failure, "/usr/bin/foo", of the configuration; or NULL */
};

/* Number of variables that one call of launch() may add. */
#define LAUNCH_VARIABLES_MAX 8

/* The program of one launch. */
struct launch_program {
	char *const *argv;
	const struct spawn_work *work;	 /* in place of a program; or NULL */
	mode_t mode;			 /* for the work */
	bool condition;			 /* its directory is not made yet */
	char *const *variables;		 /* variables of this run, which win over all others; or NULL */
	int ready_fd;			 /* for the descriptor of the key ready; or -1 */
	int input;			 /* standard input instead of that of the key; 0: none */
	int output;			 /* standard output and error likewise, */
	const struct rlimit *output_limit; /* RLIMIT_FSIZE with it */
	const struct handover *handover; /* further descriptors for the program */
	size_t n_handover;
	bool main; /* the service itself, which gets sockets and store */
};

/* For few services; each may be NULL. */
struct launch_extras {
	struct chores *chores;
	gid_t *groups;
	size_t n_groups;
	char **environment;	       /* its own variables: keys, HOME and so on; with a NULL */
	size_t n_environment;
	struct sandbox_words *sandbox; /* in front of each command */
	char *watchdog_pid;	       /* place for the pid in it */
	char *journal_stream;	       /* place for the value of JOURNAL_STREAM in it */
};

/* The objects for all starts of a service, made when its configuration is loaded. */
struct launch {
	const struct node_config *config;
	struct activation *activation; /* or NULL */
	struct capture *capture;       /* of files; or NULL */
	struct launch_extras *extras;
	struct control_group *group; /* the group to start in, set by the service; or NULL */
};

/* Makes @launch.  After a failure launch_done() must still be called.  Return: 0 or -errno. */
int launch_init(struct launch *launch, struct context *ctx, const struct node_config *config,
		const char *notify_address, struct activation *activation);
void launch_done(struct launch *launch);

/*
 * Makes a process for @program and enters @process in the table.  The program runs later: see
 * daemon/spawn/starts.h.
 *
 * Return: 0; LAUNCH_E_FAILED with *failure.
 */
int launch(const struct launch *launch, struct context *ctx, const struct launch_program *program,
	   struct process *process, struct launch_failure *failure);

/* Words for a failure of the process of @program, or for the step that it is taking. */
struct launch_failure launch_explain(const struct launch *launch, const char *program,
				     const struct spawn_failure *why);

/* Takes the terminal back if process group @group, an ended service, had it. */
void launch_ended(const struct launch *launch, pid_t group);
