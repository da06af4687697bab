#pragma once

/* How a run of a service ends: the deaths of its processes, and what these leave behind. */

#include "daemon/service/object.h"
#include "sys/process/reap.h"

/* The main process, or a leftover, has died; it has not been collected yet. */
void service_process_died(struct service *service, struct process *process,
			  const struct reap_exit *exit);

/* May there be processes of it besides its main one? */
bool service_may_have_leftovers(const struct service *service);

/* @pid is a child of ours and of this service.  Return: 0 or -errno; then it is a stranger. */
int service_adopt(struct service *service, pid_t pid, pid_t group, const char *name);

/* TASK_EXITS: services of which a process has ended; what they left behind is known. */
void service_settle_exits(struct context *ctx);
