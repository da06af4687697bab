#pragma once

/*
 * Making a process of a node's configuration: its environment, its output, its credentials.  It is
 * the service itself, or a command that runs beside it as the service would.
 */

#include <sys/types.h>

#include "daemon/cgroup/control-group.h"
#include "daemon/streams/activation.h"
#include "daemon/loop/context.h"
#include "daemon/streams/handover.h"
#include "daemon/streams/log-watch.h"
#include "daemon/streams/syslog.h"
#include "model/config/config.h"

#define LAUNCH_E_FAILED 1 /* it could not be started: *failure says why */

struct launch_failure {
	int error;	     /* errno */
	const char *step;    /* "execute" */
	const char *subject; /* "/usr/bin/foo", of the configuration; or NULL */
};

/* How many variables one call of launch() may add. */
#define LAUNCH_VARIABLES_MAX 8

/* What is to run. */
struct launch_program {
	char *const *argv;
	char *const *variables; /* of this run: they go before all others; or NULL */
	int ready_fd;		/* becomes the descriptor that the configuration names; or -1 */
	const struct handover *handover; /* further descriptors that it is given */
	size_t n_handover;
	bool main; /* the service itself: it gets the sockets and the store, and is watched */
};

/* What a service has beside its configuration; made when it is loaded, used for every start. */
struct launch {
	const struct node_config *config;
	struct activation *activation; /* or NULL */
	struct syslog_output *syslog;  /* or NULL */
	struct capture *capture;       /* of files; or NULL */
	struct log_watch *log_watch;   /* of the service itself; NULL: ready is not log:REGEX */
	gid_t *groups;
	size_t n_groups;
	struct control_group *group; /* to start in, set by its service; or NULL */
	char **environment; /* what is the service's own: its keys, HOME and so on; NULL: nothing */
	char *watchdog_pid; /* the place of the pid in it, or NULL */
	char *journal_stream; /* the value of JOURNAL_STREAM in it, for a start to write, or NULL */
};

/* On failure launch_done() is still to be called.  Return: 0 or -errno. */
int launch_init(struct launch *launch, struct context *ctx, const struct node_config *config,
		const char *notify_address, struct activation *activation);
void launch_done(struct launch *launch);

/*
 * Allocates nothing.
 *
 * Return: 0 with *pid; LAUNCH_E_FAILED with *failure.
 */
int launch(const struct launch *launch, struct context *ctx, const struct launch_program *program,
	   pid_t *pid, struct launch_failure *failure);

/* The main process of a run, for the logger. */
void launch_run(const struct launch *launch, pid_t pid, uint64_t generation);

/* As capture_awaits() and capture_end(): what the last process of a run has written. */
bool launch_awaits_output(const struct launch *launch, void (*fn)(void *arg), void *arg);
void launch_end_output(const struct launch *launch, const struct swansong_guard *guard,
		       unsigned generation, uint64_t until_usec);

/* The service that was process group @group is gone: its terminal, if it had it, is ours again. */
void launch_ended(const struct launch *launch, pid_t group);
