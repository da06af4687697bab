#pragma once

/* The end of a run: the ends of its processes, and the processes that remain after them. */

#include "daemon/service/object.h"

/* Records the end of @process, the main or a remaining one, which is not collected yet. */
void service_process_died(struct service *service, struct process *process,
			  const struct reap_exit *exit);

/* Returns true if @service may have processes besides its main one. */
bool service_may_have_remaining(const struct service *service);

/*
 * Returns true if a process that only claims to be of @service is not waited for: the service was
 * killed a while ago, and such processes may be made as fast as they are killed.  Logs this once.
 */
bool service_has_ended_claims(struct service *service);

/*
 * Makes @pid, a child of the daemon, a remaining process of @service.  Return: 0, or -errno; the
 * process is unowned then.
 */
int service_adopt(struct service *service, pid_t pid, pid_t group, const char *name);

/* TASK_EXITS: handles services with ended processes, once their remaining ones are known. */
void service_update_exits(struct context *ctx);
