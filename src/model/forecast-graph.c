#include "model/forecast-graph.h"

#include <errno.h>
#include <stdlib.h>

static void index_done(struct forecast_index *index)
{
	free(index->edges);
	free(index->first);
}

void forecast_graph_done(struct forecast_graph *g)
{
	free(g->stopped);
	free(g->first_child);
	free(g->next_sibling);
	index_done(&g->blockers);
	index_done(&g->blocked);
	free(g->needs);
	free(g->order);
}

static int index_alloc(struct forecast_index *index, const struct forecast_tree *tree)
{
	*index = (struct forecast_index){
		.edges = calloc(tree->n_edges + 1, sizeof(*index->edges)),
		.first = calloc(tree->n_nodes + 2, sizeof(*index->first)),
	};
	return index->edges && index->first ? 0 : -ENOMEM;
}

static size_t end_of(const struct forecast_edge *e, bool by_after)
{
	return by_after ? e->after : e->before;
}

/* By counting: first how many of each, then where they begin, then each to its place. */
static int index_init(struct forecast_index *index, const struct forecast_tree *tree, bool by_after)
{
	int r = index_alloc(index, tree);

	if (r < 0)
		return r;
	for (size_t i = 0; i < tree->n_edges; i++)
		index->first[end_of(&tree->edges[i], by_after) + 2]++;
	for (size_t n = 2; n < tree->n_nodes + 2; n++)
		index->first[n] += index->first[n - 1];
	for (size_t i = 0; i < tree->n_edges; i++)
		index->edges[index->first[end_of(&tree->edges[i], by_after) + 1]++] =
			tree->edges[i];
	return 0;
}

static int alloc(struct forecast_graph *g)
{
	size_t n = g->tree->n_nodes;

	g->stopped = calloc(n, sizeof(*g->stopped));
	g->first_child = calloc(n, sizeof(*g->first_child));
	g->next_sibling = calloc(n, sizeof(*g->next_sibling));
	g->needs = calloc(2 * n, sizeof(*g->needs));
	g->order = calloc(2 * n, sizeof(*g->order));
	return g->stopped && g->first_child && g->next_sibling && g->needs && g->order ? 0
										       : -ENOMEM;
}

static void link_children(struct forecast_graph *g)
{
	for (size_t i = 0; i < g->tree->n_nodes; i++)
		g->first_child[i] = g->next_sibling[i] = FORECAST_NOBODY;
	for (size_t i = g->tree->n_nodes; i-- > 0;) {
		size_t parent = g->tree->nodes[i].parent;

		if (parent == FORECAST_NOBODY)
			continue;
		g->next_sibling[i] = g->first_child[parent];
		g->first_child[parent] = i;
	}
}

static void stop(struct forecast_graph *g, size_t node, size_t *n)
{
	if (g->stopped[node])
		return;
	g->stopped[node] = true;
	g->order[(*n)++] = node;
}

/*
 * All below it, and what requires any of that: shutdown_stop().  The order is no more than room
 * here.
 */
static void mark_stopped(struct forecast_graph *g, size_t top)
{
	size_t n = 0;

	stop(g, top, &n);
	for (size_t next = 0; next < n; next++) {
		size_t node = g->order[next];

		for (size_t c = g->first_child[node]; c != FORECAST_NOBODY; c = g->next_sibling[c])
			stop(g, c, &n);
		for (size_t e = g->blockers.first[node]; e < g->blockers.first[node + 1]; e++)
			if (g->blockers.edges[e].requires)
				stop(g, g->blockers.edges[e].before, &n);
	}
}

/* One thing less that @vertex needs. */
static void satisfy(struct forecast_graph *g, size_t node, enum forecast_side side)
{
	size_t vertex = forecast_vertex(node, side);

	if (g->stopped[node] && --g->needs[vertex] == 0)
		g->order[g->n_order++] = vertex;
}

static void count_needs(struct forecast_graph *g)
{
	for (size_t i = 0; i < g->tree->n_nodes; i++) {
		size_t parent = g->tree->nodes[i].parent;
		size_t *gate = &g->needs[forecast_vertex(i, FORECAST_GATE)];

		/* One more, so that those without needs are met in the order of the nodes. */
		*gate += 1;
		g->needs[forecast_vertex(i, FORECAST_END)] += 1;
		if (parent != FORECAST_NOBODY && g->stopped[parent])
			*gate += 1;
		if (parent != FORECAST_NOBODY)
			g->needs[forecast_vertex(parent, FORECAST_END)] += 1;
		for (size_t e = g->blockers.first[i]; e < g->blockers.first[i + 1]; e++)
			*gate += g->stopped[g->blockers.edges[e].before];
	}
}

static void follow_gate(struct forecast_graph *g, size_t node)
{
	satisfy(g, node, FORECAST_END);
	for (size_t c = g->first_child[node]; c != FORECAST_NOBODY; c = g->next_sibling[c])
		satisfy(g, c, FORECAST_GATE);
}

static void follow_end(struct forecast_graph *g, size_t node)
{
	if (g->tree->nodes[node].parent != FORECAST_NOBODY)
		satisfy(g, g->tree->nodes[node].parent, FORECAST_END);
	for (size_t e = g->blocked.first[node]; e < g->blocked.first[node + 1]; e++)
		satisfy(g, g->blocked.edges[e].after, FORECAST_GATE);
}

static void sort(struct forecast_graph *g)
{
	count_needs(g);
	for (size_t i = 0; i < g->tree->n_nodes; i++)
		satisfy(g, i, FORECAST_GATE);
	for (size_t next = 0; next < g->n_order; next++) {
		size_t node = forecast_vertex_node(g->order[next]);

		if (forecast_vertex_side(g->order[next]) == FORECAST_GATE)
			follow_gate(g, node);
		else
			follow_end(g, node);
	}
}

int forecast_graph_init(struct forecast_graph *graph, const struct forecast_tree *tree, size_t top)
{
	cleanup(forecast_graph_done) struct forecast_graph g = { .tree = tree };
	int r = alloc(&g);

	if (r >= 0)
		r = index_init(&g.blockers, tree, true);
	if (r >= 0)
		r = index_init(&g.blocked, tree, false);
	if (r < 0)
		return r;
	link_children(&g);
	mark_stopped(&g, top);
	sort(&g);
	*graph = g;
	g = (struct forecast_graph){ 0 };
	return 0;
}
