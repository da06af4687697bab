#pragma once

/*
 * What the runs of a service are made with: all that is made from a configuration, and keeps
 * pointers into it.  A run keeps what it was begun with; what a reload has changed is taken for the
 * next one.
 */

#include "daemon/service.h"

struct setup {
	const struct node_config *config; /* counted */
	bool keeps_activation;		  /* the sockets and the store are those there are */
	struct activation *activation;
	struct notify *notify;
	struct service_words *words;
	struct readiness *readiness;
	struct health *health;
	struct attach *attach;
	struct hook *hook, *reload;
	struct launch launch;
};

/* What runs of @service would be made with by @config.  Return: 0 or -errno. */
int setup_new(struct setup **ret, struct service *service, const struct node_config *config);
struct setup *setup_free(struct setup *setup);

/* The first one, of a new service.  Return: 0 or -errno. */
int service_setup_init(struct service *service);
void service_setup_done(struct service *service);

/* A run begins: with the latest setup. */
void service_use_next_setup(struct service *service);

/* There will be none: activation_unlisten() for it. */
void service_unlisten_next(struct service *service);

/* What the next run is made with. */
const struct node_config *service_next_config(const struct service *service);

/*
 * From now on @config is the service's.  Takes @setup and @policy, made from it; both are NULL if
 * it says the same as the one before.  Fails at nothing.
 */
void service_reconfigure(struct service *service, const struct node_config *config,
			 struct setup *setup, struct policy *policy);
