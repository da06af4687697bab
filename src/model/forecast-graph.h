#pragma once

/* What has to end before what in a shutdown; for model/forecast.c only. */

#include "model/forecast.h"

/*
 * Each node of the tree is two vertices: it may be signalled, and it is Complete.  A vertex comes
 * after those that it needs:
 *
 *	gate(N) needs gate(parent), and end(B) of each B that is to be Complete before
 *	end(N)  needs gate(N), and end(child) of each child
 */
enum forecast_side { FORECAST_GATE, FORECAST_END };

static inline size_t forecast_vertex(size_t node, enum forecast_side side)
{
	return 2 * node + side;
}

static inline size_t forecast_vertex_node(size_t vertex)
{
	return vertex / 2;
}

static inline enum forecast_side forecast_vertex_side(size_t vertex)
{
	return vertex % 2 ? FORECAST_END : FORECAST_GATE;
}

/* Edges in the order of one of their ends: those of node N are [first[N], first[N + 1]). */
struct forecast_index {
	struct forecast_edge *edges;
	size_t *first;
};

struct forecast_graph {
	const struct forecast_tree *tree;
	bool *stopped;			    /* for each node: is it shut down, too? */
	size_t *first_child, *next_sibling; /* or FORECAST_NOBODY */
	struct forecast_index blockers;	    /* of a node: it is their @after */
	struct forecast_index blocked;	    /* by a node: it is their @before */
	size_t *needs; /* while the order is made: what is missing for a vertex */
	size_t *order; /* the vertices of what is stopped */
	size_t n_order;
};

/* Return: 0 or -ENOMEM. */
int forecast_graph_init(struct forecast_graph *graph, const struct forecast_tree *tree, size_t top);
void forecast_graph_done(struct forecast_graph *graph);
