#pragma once

/*
 * The health of a service: periodic checks while it is up, and the reaction if they fail.
 *
 * A service without the key health has neither this object nor its timer.
 */

#include "daemon/probe/attempt.h"
#include "daemon/service/object.h"

enum health_state { HEALTH_UNKNOWN, HEALTH_HEALTHY, HEALTH_UNHEALTHY };

struct health {
	struct service *service;
	struct probe *probe;
	struct alarm timer; /* of the next check */
	bool on;
	enum health_state state;
	uint64_t since_usec;	 /* when the state was entered */
	unsigned failures;	 /* in a row */
	char why[PROBE_WHY_MAX]; /* result of the last check; empty: healthy */
};

/*
 * Makes *ret for the key health of @config; NULL if it is not set.  Interval, retries and reaction
 * are read from the present configuration of @service.
 */
int health_new(struct health **ret, struct service *service, const struct node_config *config);
struct health *health_free(struct health *health);

/*
 * Begins or ends the checks after a change of the service's state: it is checked only while it is
 * up.  @health may be NULL.
 */
void health_update(struct health *health);

/* @service is up without a health check, or healthy: raises ALERT_RECOVERED if it was in trouble. */
void health_note_well(struct service *service);

const char *health_state_name(enum health_state state);
