#pragma once

/* The commands around a service: which of them run in a state, and what follows from them. */

#include "daemon/service/object.h"

/* Makes *ret for the commands of @config, if it has any.  Return: 0 or -ENOMEM. */
int service_hook_new(struct service *service, const struct node_config *config, struct hook **ret);
void service_hook_free(struct hook *hook);

/* Returns the parts of a run (model/life/fsm.h) that the setup asks for. */
unsigned service_configured_parts(const struct service *service);

/* Returns the configured parts that are still to come. */
unsigned service_parts(const struct service *service);

/* Begins the commands of the present state. */
void service_run_hook(struct service *service);

/* Returns the part to which commands of @kind belong. */
unsigned service_hook_part(enum hook_kind kind);

/* Returns true if the present state ends with a command, regardless of other processes. */
bool service_awaits_hook(const struct service *service);

/*
 * Returns the command number @n of those that run, or NULL: for (n = 0; (hook =
 * service_running_hook(service, n)); n++).
 */
struct hook *service_running_hook(const struct service *service, unsigned n);
