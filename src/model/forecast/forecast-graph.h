#pragma once

/* The nodes of a tree, the order between them, and that of their ends in a shutdown. */

#include "model/base/settings.h"

/* Parents before their children. */
struct forecast_node {
	const struct node_config *config;
	size_t parent; /* FORECAST_NOBODY: the root */
};
#define FORECAST_NOBODY SIZE_MAX

/* All in node @after is signalled when node @before is Complete. */
struct forecast_edge {
	size_t before, after;
	enum edge edge; /* EDGE_TERM_AFTER is of node @after, another of @before */
	bool broken;	/* by forecast_graph_break() */
};

/* @edge of node @node to node @target, in a stop. */
struct forecast_edge forecast_edge_of(enum edge edge, size_t node, size_t target);

struct forecast_tree {
	struct forecast_node *nodes;
	size_t n_nodes;
	struct forecast_edge *edges;
	size_t n_edges;
	uint64_t grace_usec; /* of the parent manager; USEC_INFINITY: unknown */
};

/* The tree of @config as it is, without a grace.  Return: 0 or -ENOMEM. */
int forecast_tree_init(struct forecast_tree *tree, const struct config *config);
void forecast_tree_done(struct forecast_tree *tree);

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

/* Lists of nodes or edges, by their numbers, of which each node has one. */
struct forecast_links {
	size_t *first, *next; /* or FORECAST_NOBODY */
};

#define forecast_for_each(i, links, node) \
	for (size_t i = (links).first[node]; i != FORECAST_NOBODY; i = (links).next[i])

struct forecast_graph {
	const struct forecast_tree *tree;
	bool *stopped; /* for each node: is it shut down, too? */
	struct forecast_links children;
	struct forecast_links blockers; /* edges: the node is their @after */
	struct forecast_links blocked;	/* edges: the node is their @before */
	size_t *needs; /* of a vertex: the number of those that are not in the order */
	size_t *order; /* the vertices of what is stopped */
	size_t n_order, n_followed;
};

/* The order lacks vertices if there is a dependency cycle.  Return: 0 or -ENOMEM. */
int forecast_graph_init(struct forecast_graph *graph, const struct forecast_tree *tree, size_t top);
void forecast_graph_done(struct forecast_graph *graph);

/* Goes on with the order as if there were no such edge, whose nodes are stopped. */
void forecast_graph_break(struct forecast_graph *graph, size_t edge);
