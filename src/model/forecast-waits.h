#pragma once

/*
 * Which nodes are to be Complete before anything in a node is signalled: those that it comes after,
 * and those that the nodes around it come after, each once.  For model/forecast.c only.
 *
 * A large group has many edges and many services: nothing here goes through the one for each of the
 * other.
 */

#include "model/forecast-graph.h"

struct forecast_waits {
	const struct forecast_graph *graph;
	size_t *before; /* of node N itself, each once: [first[N], first[N + 1]) */
	size_t *first;
	size_t *number; /* for each node: how many there are in all */
	size_t *seen;	/* for each node: by whom it was looked at last, plus 1 */
};

/* Return: 0 or -ENOMEM. */
int forecast_waits_init(struct forecast_waits *waits, const struct forecast_graph *graph);
void forecast_waits_done(struct forecast_waits *waits);

/* The first @max of those of @node.  Return: how many that are. */
size_t forecast_waits_get(struct forecast_waits *waits, size_t node, const struct node_config **ret,
			  size_t max);
