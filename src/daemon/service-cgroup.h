#pragma once

/*
 * The control group of a service, where the daemon has some to give (daemon/cgroup.h): who is in it
 * is known without a doubt, whatever session, environment or parent he has got himself.
 *
 * It is made when the service starts, stays from one restart to the next, and is removed when
 * the service comes to rest.  Without one, everything here does nothing.
 */

#include "daemon/cgroup.h"

struct service;

/* Says what of the service's limits cannot be had here.  When it is loaded. */
void service_cgroup_check(struct service *service);

/*
 * Makes the group, with its limits.  What the kernel refuses is said once, and the service does
 * without.  Return: a descriptor to start in, or -1.
 */
int service_cgroup_open(struct service *service);

/* The kernel would not start anybody in there, with @error: it does without. */
void service_cgroup_refused(struct service *service, int error);

/* Is anybody in it? */
bool service_cgroup_is_populated(const struct service *service);

/* When it becomes empty, service_look_after() is called. */
void service_cgroup_watch(struct service *service);

/* For cgroups_new(). */
extern const struct cgroup_news service_cgroup_news;

/* Calls @each for every process in it. */
void service_cgroup_each(const struct service *service, void (*each)(pid_t pid, void *arg),
			 void *arg);

/* To every process in it. */
void service_cgroup_signal(const struct service *service, int signo);

/*
 * Nobody in it can act on a signal while it is frozen: if they are still there soon, it is thawed.
 */
void service_cgroup_thaw_soon(struct service *service);

/* SIGKILL to all of it at once: no fork can escape. */
void service_cgroup_kill(struct service *service);

/* If nobody is in it.  Return: it has none any more. */
bool service_cgroup_remove(struct service *service);
