#pragma once

/* Making a process of a service's configuration: its environment, its output, its credentials. */

#include <sys/types.h>

#include "daemon/context.h"
#include "model/config.h"

#define LAUNCH_E_FAILED 1 /* it could not be started: *failure says why */
#define LAUNCH_E_CGROUP 2 /* ... in that control group */

struct launch_failure {
	int error;	     /* errno */
	const char *step;    /* "execute" */
	const char *subject; /* "/usr/bin/foo", of the configuration; or NULL */
};

/* What a service has beside its configuration; made when it is loaded, used for every start. */
struct launch {
	const struct node_config *config;
	const char *notify_address; /* or NULL */
	gid_t *groups;
	size_t n_groups;
	int cgroup;	    /* of the next start; -1: none */
	char **environment; /* what is the service's own: its keys, HOME and so on, SWANSONG_NODE */
};

/* On failure launch_done() is still to be called.  Return: 0 or -errno. */
int launch_init(struct launch *launch, struct context *ctx, const struct node_config *config,
		const char *notify_address);
void launch_done(struct launch *launch);

/*
 * @ready_fd, if not negative, becomes the descriptor that the configuration names.  Allocates
 * nothing.
 *
 * Return: 0 with *pid and *pidfd; LAUNCH_E_FAILED or LAUNCH_E_CGROUP with *failure.
 */
int launch(const struct launch *launch, struct context *ctx, int ready_fd, pid_t *pid, int *pidfd,
	   struct launch_failure *failure);
