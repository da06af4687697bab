#pragma once

/*
 * Whether a service that is up is still well: it is looked at again and again while it is up, and
 * what is done when it is not any more.
 *
 * There is nothing of this, no timer either, for a service without the key health.
 */

#include <stdint.h>

#include "daemon/service/object.h"

/* Of what went wrong last. */
#define HEALTH_WHY_MAX 128

enum health_state { HEALTH_UNKNOWN, HEALTH_HEALTHY, HEALTH_UNHEALTHY };

struct health {
	struct service *service;
	struct probe *probe;
	struct alarm timer; /* of the next look */
	bool on;
	enum health_state state;
	uint64_t since_usec;	  /* when it was entered */
	unsigned failures;	  /* in a row */
	char why[HEALTH_WHY_MAX]; /* what the last look found; empty: it is well */
};

/*
 * For what @config says, or *ret is NULL if that is nothing.  The rest is the service's present
 * configuration's.
 *
 * Return: 0 or -errno.
 */
int health_new(struct health **ret, struct service *service, const struct node_config *config);
struct health *health_free(struct health *health);

/* Its service's state is another: while that is up it looks, and else not.  @health may be NULL. */
void health_follow(struct health *health);

/* "unknown", "healthy", "unhealthy" */
const char *health_state_name(enum health_state state);
