#pragma once

/* Having a service read its own configuration again. */

#include "daemon/service/object.h"

/* What is needed for the reload-command of @config; NULL if it has none.  Return: 0 or -errno. */
int service_reload_new(struct service *service, const struct node_config *config,
		       struct hook **ret);

/*
 * Sends the reload-signal to the main process, or begins the reload-command, whose end is told in
 * the log.
 *
 * Return: 0; -ESRCH if it is not up, or has no main process; -EBUSY if its reload-command runs
 * already; -errno of the signal.
 */
int service_reload(struct service *service);

/* A reload-command has ended: the next one, or what is to be said about it. */
void service_settle_reload(struct service *service);
