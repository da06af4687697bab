#pragma once

/*
 * The control group of one service, if the daemon has any (daemon/cgroup/delegation.h).  A process
 * stays in it, regardless of its session, environment and parent.
 *
 * The group is made when the service starts, kept from one restart to the next, and removed when
 * the service comes to rest.  Without control groups all functions do nothing.
 */

#include "daemon/cgroup/delegation.h"

struct control_group {
	struct context *ctx;
	const struct node_config *config; /* borrowed; has the path and the limits */
	struct cgroup_watch watch;
	unsigned generation; /* 0: none; in the name of the group and in the claims of the run */
	bool exists;	     /* and has the processes of the service; also if an earlier daemon has made it */
	bool refused;	     /* a process of this run is outside: later ones are made outside, too */
	bool spent;	     /* it was killed: Linux also kills what starts in it later */
};

/* @on_change, which is the same for all groups, is called when the @watch of one may have become empty. */
void control_group_init(struct control_group *group, struct context *ctx,
			const struct node_config *config,
			void (*on_change)(struct cgroup_watch *watch));
void control_group_done(struct control_group *group);

/*
 * Returns the claim of the processes of a run, in their environment and by the name of their group: the
 * path of the section, with "~" and the generation if the service has hand-overs.
 */
char *control_group_claim(const struct control_group *group, char buf[static CONFIG_NAME_MAX + 1]);

/* Gives the next run the number @generation, unless a process remains in the present group. */
void control_group_number(struct control_group *group, unsigned generation);

/*
 * Makes @config that of the group: sets its limits, also of a group with processes, and warns of those that
 * cannot be set on this machine.
 */
void control_group_use(struct control_group *group, const struct node_config *config);

/*
 * Finds the memory of the group, without files that were read and are not in use.  Return: 0, or -ENOENT if the
 * kernel does not count it.
 */
int control_group_memory(const struct control_group *group, uint64_t *ret);
void control_group_each(const struct control_group *group, void (*each)(pid_t pid, void *arg),
			void *arg);

/*
 * Makes the group with its limits; the first refusal is logged.  Returns a descriptor for the
 * caller to close, or -1 without a group.
 */
int control_group_open(struct control_group *group);

/* Restores the effect of a control_group_refused() from before a fault. */
void control_group_forget(struct control_group *group);

/*
 * Runs the service without a group from now on, as the kernel refused with @error to start a process
 * in it, until group->refused is reset: processes on both sides would not all be found.
 */
void control_group_refused(struct control_group *group, int error);

/* Returns true if a process is in the group, or may be. */
bool control_group_is_populated(const struct control_group *group);

/*
 * Calls @each for every process in the group, and watches it: on_change() is called when it becomes
 * empty.
 */
void control_group_watch(struct control_group *group, void (*each)(pid_t pid, void *arg),
			 void *arg);
void control_group_signal(const struct control_group *group, int signo);

/* Thaws the group in a moment, if it exists then: frozen processes cannot act on a signal. */
void control_group_thaw_soon(struct control_group *group);

/* Kills all processes of the group at once: no fork can escape. */
void control_group_kill(struct control_group *group);

/* Removes the group if it is empty.  Returns true if it does not exist any more. */
bool control_group_remove(struct control_group *group);
