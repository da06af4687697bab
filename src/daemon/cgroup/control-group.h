#pragma once

/*
 * The control group of one service, where the daemon has some to give (daemon/cgroup/cgroup.h): a
 * process stays in it, in any session, with any environment or parent.
 *
 * The group is made when the service starts, stays from one restart to the next, and is removed
 * when the service comes to rest.  Without control groups every function here does nothing.
 */

#include "daemon/cgroup/cgroup.h"

struct control_group {
	struct context *ctx;
	const struct node_config *config; /* borrowed: the path is the name, the limits are set */
	struct cgroup_watch watch;
	void (*on_change)(struct control_group *group); /* may have become empty */
	bool exists; /* and the processes of the service are in it */
	bool spent;  /* it was killed: Linux kills what is started in it later, too */
};

void control_group_init(struct control_group *group, struct context *ctx,
			const struct node_config *config,
			void (*on_change)(struct control_group *group));
void control_group_done(struct control_group *group);

/* Warns of limits that cannot be set on this machine.  For each new configuration. */
void control_group_check(struct control_group *group);

/*
 * Makes the group with its limits; logs the first refusal.  Return: a descriptor, or -1: no
 * group.
 */
int control_group_open(struct control_group *group);

/* The kernel refused with @error to start a process in the group: the service runs without. */
void control_group_refused(struct control_group *group, int error);

/* Returns true if a process is in the group, or if that cannot be known now. */
bool control_group_is_populated(const struct control_group *group);

/* Has on_change() called when the group becomes empty. */
void control_group_watch(struct control_group *group);

/* Calls @each for every process in the group. */
void control_group_each(const struct control_group *group, void (*each)(pid_t pid, void *arg),
			void *arg);

/* Sends @signo to every process in the group. */
void control_group_signal(const struct control_group *group, int signo);

/* A frozen process cannot act on a signal: the group is thawed if it still exists soon. */
void control_group_thaw_soon(struct control_group *group);

/* Kills all processes of the group at once: no fork can escape. */
void control_group_kill(struct control_group *group);

/* Removes the group if it is empty.  Returns true if there is none any more. */
bool control_group_remove(struct control_group *group);
