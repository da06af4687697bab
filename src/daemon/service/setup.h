#pragma once

/* Making struct setup of a configuration, and taking it for the next run. */

#include "daemon/service/object.h"

/* What runs of @service would be made with by @config.  Return: 0 or -errno. */
int setup_new(struct setup **ret, struct service *service, const struct node_config *config);
struct setup *setup_free(struct setup *setup);

/* The first one, of a new service.  Return: 0 or -errno. */
int service_setup_init(struct service *service);
void service_setup_done(struct service *service);

/* A run begins: with the latest setup. */
void service_use_next_setup(struct service *service);

/*
 * From now on @config is the service's.  Takes @setup and @policy, made from it; both are NULL if
 * it says the same as the one before.  Fails at nothing.
 */
void service_reconfigure(struct service *service, const struct node_config *config,
			 struct setup *setup, struct policy *policy);
