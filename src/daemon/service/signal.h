#pragma once

/*
 * What the processes of a service are sent: the stop signal, SIGKILL, and what an operator sends.
 */

#include "daemon/service/object.h"

/*
 * Is somebody of the main process's group there?  Its number stays the group's as long as it has
 * members.  Later it may be anybody's pid, and his group's: then a process has it again, and the
 * main process, which was collected, is it not.
 */
bool service_has_group(const struct service *service);

/* Is any process of it there, its commands included? */
bool service_has_any(const struct service *service);

/* The stop signal, then SIGCONT, to whatever of it has not had it. */
void service_term(struct service *service);

/* Has one of the process group @group, which turns up now, had the stop signal before? */
bool service_has_signalled(const struct service *service, pid_t group);

/*
 * The kill-signal, and from the second time on SIGKILL, to all of it.  Kept leftovers are spared
 * until the budget of the node is spent.
 */
void service_kill(struct service *service);

/* The stop did not do: what is about to be killed is named, and the nodes remember. */
void service_forced(struct service *service);

/*
 * The budget is spent: what was let be when the service came to rest is named and killed as well,
 * and again until it is gone.
 */
void service_end_rest(struct service *service);

/* The service comes to rest, and its kept leftovers hold nothing but the root from here on. */
void service_detach_rest(struct service *service);

/* The root is stopped: what was kept gets the stop signal, and is killed at the stop-timeout. */
void service_stop_rest(struct service *service);

/* @process is a leftover of the same run as @of_run, with what that means for its end. */
void service_join_rest(struct service *service, struct process *process,
		       const struct process *of_run);

/* The stop-timeout of such processes is over: of service->rest. */
void service_rest_is_due(struct alarm *alarm);

/* Sends @signo to its main process, to that and its group, or to all that is known to be of it. */
void service_send(struct service *service, int signo, enum signal_scope scope);
