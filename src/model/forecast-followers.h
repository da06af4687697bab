#pragma once

/*
 * How much of a budget is to be left to those that are signalled after a service.  For
 * model/forecast.c only.
 *
 * Of those that come after a node only those count that no other outdoes, by a longer stop-timeout
 * and an end that is no later: mostly one, however many they are.
 */

#include "model/forecast-graph.h"

struct forecast_follower {
	uint64_t timeout_usec, kill_usec;
};

struct forecast_followers {
	const struct forecast_graph *graph;
	struct forecast_follower *all; /* of node N: from first[N] on, n[N] */
	size_t *n;
};

/*
 * @kill_usec: of each node, until when all in it but its final has to be Complete.  Return: 0 or
 * -ENOMEM.
 */
int forecast_followers_init(struct forecast_followers *followers,
			    const struct forecast_graph *graph, const uint64_t *kill_usec);
void forecast_followers_done(struct forecast_followers *followers);

/* The longest that one of those of @node, or of a node around it, is to have after @kill_usec. */
uint64_t forecast_followers_timeout(const struct forecast_followers *followers, size_t node,
				    uint64_t kill_usec);
