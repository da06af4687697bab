#pragma once

/* Makes a service read its own configuration again. */

#include "daemon/service/object.h"

/* Makes *ret for the reload-command of @config, or its credentials, if it has any.  Return: 0 or -errno. */
int service_reload_new(struct service *service, const struct node_config *config,
		       struct hook **ret);

/*
 * Sends the reload-signal to the main process, or begins the reload-command; its end is logged.  If there are
 * credentials, their files are written first, and without that nothing follows.
 *
 * Return: 0; -ESRCH if @service is not up or has no main process; -EBUSY if its reload-command runs
 * already; -EPROTO if the signal would end the process, and none is sent; -errno of the signal.
 */
int service_reload(struct service *service);

/* Handles the end of a reload-command: begins the next one, or logs the result. */
void service_update_reload(struct service *service);
