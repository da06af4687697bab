#pragma once

/*
 * The nodes before and after each node, for forecast.c.
 *
 * A large group has many edges and many services: no loop visits the edges for each service.
 */

#include "model/forecast/forecast-graph.h"

/*
 * The nodes that must be Complete before any service in a node is signalled: the nodes that it
 * comes after, and the nodes that its ancestors come after, each once.
 */
struct forecast_waits {
	const struct forecast_graph *graph;
	size_t *before; /* of node N itself, each once, in order: [first[N], first[N + 1]) */
	size_t *first;
	size_t *number; /* for each node: their number, including the ancestors' */
};

/* Must be followed by forecast_waits_done(), also on failure.  Return: 0 or -ENOMEM. */
int forecast_waits_init(struct forecast_waits *waits, const struct forecast_graph *graph);
void forecast_waits_done(struct forecast_waits *waits);

/* The first @max nodes before @node, the nearest first.  Returns their number. */
size_t forecast_waits_get(const struct forecast_waits *waits, size_t node,
			  const struct node_config **ret, size_t max);

struct forecast_follower {
	uint64_t timeout_usec, kill_usec;
	int rank;
};

/*
 * The part of a budget that is reserved for the nodes signalled after a service.  Of the nodes
 * after a node only those are kept that no other node exceeds, by a longer stop-timeout and an end
 * that is no later: mostly one, whatever their number.
 */
struct forecast_followers {
	const struct forecast_graph *graph;
	struct forecast_follower *all; /* of node N: [first[N], first[N + 1]) */
	size_t *first;
};

/* The deadline of a node until Complete, and of everything in it before its own final. */
struct forecast_deadline {
	uint64_t usec, kill_usec;
	const struct node_config *of; /* the node with that budget, or NULL */
	uint64_t latest_usec;	      /* of forecast_yield() */
	bool yields;		      /* it is earlier than the budget */
};

/* The time that a kill takes at worst. */
uint64_t forecast_kill_usec(const struct node_config *config);

/*
 * Returns the latest time of the stop signal of a service, if @end_usec is that of its end.  A service
 * with a higher rank than @rank has its stop-timeout then, before its own @kill_usec.
 */
uint64_t forecast_latest_gate(const struct node_config *config, int rank, uint64_t end_usec,
			      uint64_t kill_usec);

/*
 * Sets the latest_usec of each deadline of a stopped node: so all services of a higher stop_rank that are
 * signalled later have their whole stop-timeout.  Return: 0 or -ENOMEM.
 */
int forecast_yield(const struct forecast_graph *graph, struct forecast_deadline *deadlines);

/* @deadlines: of each node.  Return: 0 or -ENOMEM. */
int forecast_followers_init(struct forecast_followers *followers,
			    const struct forecast_graph *graph,
			    const struct forecast_deadline *deadlines);
void forecast_followers_done(struct forecast_followers *followers);

/*
 * The longest time after @kill_usec that a follower of @node, or of an ancestor, must have.
 * Followers of a lower rank have none: they come last in any case.
 */
uint64_t forecast_followers_timeout(const struct forecast_followers *followers, size_t node,
				    uint64_t kill_usec);
