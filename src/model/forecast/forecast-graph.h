#pragma once

/* The nodes of a tree, their edges, and the order of their ends in a shutdown. */

#include "model/base/settings.h"

/* A node.  In the array parents stand before their children. */
struct forecast_node {
	const struct node_config *config;
	const char *path; /* of the config, or of a run aside */
	size_t parent;	  /* FORECAST_NONE: the root */
};
#define FORECAST_NONE SIZE_MAX

/* Every service in node @after is signalled when node @before is Complete. */
struct forecast_edge {
	size_t before, after;
	enum edge edge; /* EDGE_TERM_AFTER: a key of node @after; else of @before */
	bool broken;	/* by forecast_graph_break() */
};

/* Both arrays grow by array_append(). */
struct forecast_tree {
	struct forecast_node *nodes;
	size_t n_nodes;
	struct forecast_edge *edges;
	size_t n_edges;
	uint64_t grace_usec; /* of the parent manager; USEC_INFINITY: unknown */
};

/* Initialises @tree from @config, without a grace.  Return: 0 or -ENOMEM. */
int forecast_tree_init(struct forecast_tree *tree, const struct config *config);
void forecast_tree_done(struct forecast_tree *tree);

/* Adds the edge in a stop that @edge of node @node to node @target means.  Return: likewise. */
int forecast_tree_link(struct forecast_tree *tree, enum edge edge, size_t node, size_t target);

/*
 * Each node of the tree has two vertices: gate, it may be signalled; and end, it is Complete.  A
 * vertex comes after the vertices that it needs:
 *
 *	gate(N) needs gate(parent), and end(B) of each B that must be Complete before
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

/* A list of nodes or edges, by their numbers, for each node. */
struct forecast_links {
	size_t *first, *next; /* or FORECAST_NONE */
};

#define forecast_for_each(i, links, node) \
	for (size_t i = (links).first[node]; i != FORECAST_NONE; i = (links).next[i])

struct forecast_graph {
	const struct forecast_tree *tree;
	bool *stopped; /* for each node: true if it is shut down, too */
	struct forecast_links children;
	struct forecast_links blockers; /* edges: the node is their @after */
	struct forecast_links blocked;	/* edges: the node is their @before */
	size_t *needs; /* for each vertex: how many needed ones are not in the order */
	size_t *order; /* the vertices of stopped nodes */
	size_t n_order, n_followed;
};

/* Vertices are missing in the order if there is a dependency cycle.  Return: 0 or -ENOMEM. */
int forecast_graph_init(struct forecast_graph *graph, const struct forecast_tree *tree, size_t top);
void forecast_graph_done(struct forecast_graph *graph);

/* Continues the order without the edge; both of its nodes must be stopped. */
void forecast_graph_break(struct forecast_graph *graph, size_t edge);
