#pragma once

/*
 * The nodes before and after each node.  For forecast.c only.
 *
 * A large group has many edges and many services: no loop goes through the edges for each service.
 */

#include "model/forecast/forecast-graph.h"

/*
 * The nodes that are to be Complete before anything in a node is signalled: those that it comes
 * after, and those that the nodes around it come after, each once.
 */
struct forecast_waits {
	const struct forecast_graph *graph;
	size_t *before; /* of node N itself, each once, in order: [first[N], first[N + 1]) */
	size_t *first;
	size_t *number; /* for each node: how many there are in all */
};

/* forecast_waits_done() is to be called also on failure.  Return: 0 or -ENOMEM. */
int forecast_waits_init(struct forecast_waits *waits, const struct forecast_graph *graph);
void forecast_waits_done(struct forecast_waits *waits);

/* The first @max of those of @node, the nearest first.  Return: how many that are. */
size_t forecast_waits_get(const struct forecast_waits *waits, size_t node,
			  const struct node_config **ret, size_t max);

struct forecast_follower {
	uint64_t timeout_usec, kill_usec;
};

/*
 * The part of a budget to be left to the nodes that are signalled after a service.  Of the nodes
 * after a node only those count that no other outdoes, by a longer stop-timeout and an end that is
 * no later: mostly one, however many they are.
 */
struct forecast_followers {
	const struct forecast_graph *graph;
	struct forecast_follower *all; /* of node N: [first[N], first[N + 1]) */
	size_t *first;
};

/* Until when a node has to be Complete, and until when all in it but its own final. */
struct forecast_deadline {
	uint64_t usec, kill_usec;
	const struct node_config *of; /* whose budget that is, or NULL */
};

/* @deadlines: of each node.  Return: 0 or -ENOMEM. */
int forecast_followers_init(struct forecast_followers *followers,
			    const struct forecast_graph *graph,
			    const struct forecast_deadline *deadlines);
void forecast_followers_done(struct forecast_followers *followers);

/* The longest that one of those of @node, or of a node around it, is to have after @kill_usec. */
uint64_t forecast_followers_timeout(const struct forecast_followers *followers, size_t node,
				    uint64_t kill_usec);
