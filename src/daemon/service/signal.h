#pragma once

/* Signals to the processes of a service: the stop signal, SIGKILL, and signals from operators. */

#include "daemon/service/parts.h"

/*
 * Returns true if the process group of the main process exists.  Its number remains that of the
 * group while the group has members; later it may be the pid of any process and the number of its
 * group: in that case a process has this pid, which the main process, being collected, cannot be.
 */
bool service_has_group(const struct service *service);

/* Returns true if any process of @service exists, including its commands. */
bool service_has_any(const struct service *service);

/* "3 guards", "pid 812 (app)": the cause for which the stop of @service goes on. */
#define SERVICE_HOLDER_MAX 80
char *service_holder(const struct service *service, char buf[static SERVICE_HOLDER_MAX]);

/* Sends the stop signal and SIGCONT to all processes that have not received it. */
void service_term(struct service *service);

/* Returns true if the stop signal was sent, or a stop-command has begun and the main process lives. */
bool service_was_asked(const struct service *service);

/*
 * Returns true if processes of @group, which have been found just now, have already received the
 * stop signal.
 */
bool service_has_signalled(const struct service *service, pid_t group);

/*
 * Sends the kill-signal, and from the second call on SIGKILL, to all processes.  Kept processes are
 * spared until the budget of the node has expired.
 */
void service_kill(struct service *service);

/*
 * Logs the processes that are about to be killed and marks the nodes as forced: the stop has
 * failed.
 */
void service_forced(struct service *service);

/*
 * Kills the processes that were kept when the service came to rest, now that the budget has
 * expired, and again until they are gone.
 */
void service_end_kept(struct service *service);

/* Moves the guards of kept processes to the root: the service comes to rest. */
void service_detach_kept(struct service *service);

/*
 * Sends the stop signal to kept processes, as the root is stopped; SIGKILL follows at the
 * stop-timeout.
 */
void service_stop_kept(struct service *service);

/* Moves the end of kept processes that have the stop signal by @usec. */
void service_postpone_kept(struct service *service, uint64_t usec);

/* Gives @process, from the same run as @of_run, the same end as that. */
void service_join_kept(struct service *service, struct process *process,
		       const struct process *of_run);

/* Kills the kept processes that have exceeded the stop-timeout. */
void service_kill_late_kept(struct service *service);

/* Sends @signo to the main process, to its process group, or to all known processes. */
void service_send(struct service *service, int signo, enum signal_scope scope);
