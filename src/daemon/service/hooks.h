#pragma once

/*
 * The commands around the life of a service: which run in which state, and what follows from them.
 */

#include "daemon/service/object.h"

/* What is needed for those that @config has; NULL if it has none.  Return: 0 or -ENOMEM. */
int service_hook_new(struct service *service, const struct node_config *config, struct hook **ret);
void service_hook_free(struct hook *hook);

/* The parts of its life (model/fsm.h) that its setup asks for. */
unsigned service_configured_parts(const struct service *service);

/* ... and those that are still to come, as things are now. */
unsigned service_parts(const struct service *service);

/* Runs the commands that its state is for. */
void service_run_hook(struct service *service);

/* The part of its life that the commands of @kind are. */
unsigned service_hook_part(enum hook_kind kind);

/* Is its state waiting for a command, whatever becomes of its other processes? */
bool service_awaits_hook(const struct service *service);

/* Those of its commands that run: for (n = 0; (hook = service_running_hook(service, n)); n++). */
struct hook *service_running_hook(const struct service *service, unsigned n);
