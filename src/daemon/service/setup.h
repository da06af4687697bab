#pragma once

/* Makes struct setup from a configuration, and exchanges it before the next run. */

#include "daemon/service/object.h"

/* Makes the objects that runs of @service would need with @config.  Return: 0 or -errno. */
int setup_new(struct setup **ret, struct service *service, const struct node_config *config);
struct setup *setup_free(struct setup *setup);
void service_setup_done(struct service *service);

/* Makes the latest setup the present one, as a run begins. */
void service_use_next_setup(struct service *service);

/*
 * Makes @config the configuration of @service.  Takes ownership of @setup and @policy, which were
 * made from it; both are NULL if it equals the one before.  It cannot fail.
 */
void service_reconfigure(struct service *service, const struct node_config *config,
			 struct setup *setup, struct policy *policy);
