#include "model/forecast-waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

void forecast_waits_done(struct forecast_waits *w)
{
	free(w->before);
	free(w->first);
	free(w->number);
	free(w->seen);
}

static int alloc(struct forecast_waits *w)
{
	const struct forecast_tree *tree = w->graph->tree;

	w->before = calloc(tree->n_edges + 1, sizeof(*w->before));
	w->first = calloc(tree->n_nodes + 1, sizeof(*w->first));
	w->number = calloc(tree->n_nodes, sizeof(*w->number));
	w->seen = calloc(tree->n_nodes, sizeof(*w->seen));
	return w->before && w->first && w->number && w->seen ? 0 : -ENOMEM;
}

static void forget_seen(struct forecast_waits *w)
{
	memset(w->seen, 0, w->graph->tree->n_nodes * sizeof(*w->seen));
}

static void index_own(struct forecast_waits *w)
{
	const struct forecast_graph *g = w->graph;
	size_t n = 0;

	for (size_t i = 0; i < g->tree->n_nodes; i++) {
		w->first[i] = n;
		for (size_t e = g->blockers.first[i]; e < g->blockers.first[i + 1]; e++) {
			size_t before = g->blockers.edges[e].before;

			if (!g->stopped[before] || w->seen[before] == i + 1)
				continue;
			w->seen[before] = i + 1;
			w->before[n++] = before;
		}
	}
	w->first[g->tree->n_nodes] = n;
	forget_seen(w);
}

/*
 * On the way down each is marked by the first that comes after it, and let go of by that on the way
 * up.
 */
static void enter(struct forecast_waits *w, size_t node, size_t above)
{
	w->number[node] = above;
	for (size_t i = w->first[node]; i < w->first[node + 1]; i++) {
		if (w->seen[w->before[i]])
			continue;
		w->seen[w->before[i]] = node + 1;
		w->number[node]++;
	}
}

static void leave(struct forecast_waits *w, size_t node)
{
	for (size_t i = w->first[node]; i < w->first[node + 1]; i++)
		if (w->seen[w->before[i]] == node + 1)
			w->seen[w->before[i]] = 0;
}

/* All below a stopped node is stopped. */
static void count_below(struct forecast_waits *w, size_t top)
{
	const struct forecast_graph *g = w->graph;
	size_t node = top;

	enter(w, node, 0);
	for (;;) {
		if (g->first_child[node] != FORECAST_NOBODY) {
			enter(w, g->first_child[node], w->number[node]);
			node = g->first_child[node];
			continue;
		}
		while (node != top && g->next_sibling[node] == FORECAST_NOBODY) {
			leave(w, node);
			node = g->tree->nodes[node].parent;
		}
		leave(w, node);
		if (node == top)
			return;
		node = g->next_sibling[node];
		enter(w, node, w->number[g->tree->nodes[node].parent]);
	}
}

static void count(struct forecast_waits *w)
{
	const struct forecast_graph *g = w->graph;

	for (size_t i = 0; i < g->tree->n_nodes; i++) {
		size_t parent = g->tree->nodes[i].parent;

		if (g->stopped[i] && (parent == FORECAST_NOBODY || !g->stopped[parent]))
			count_below(w, i);
	}
}

int forecast_waits_init(struct forecast_waits *waits, const struct forecast_graph *graph)
{
	struct forecast_waits w = { .graph = graph };

	if (alloc(&w) < 0) {
		forecast_waits_done(&w);
		return -ENOMEM;
	}
	index_own(&w);
	count(&w);
	*waits = w;
	return 0;
}

size_t forecast_waits_get(struct forecast_waits *w, size_t node, const struct node_config **ret,
			  size_t max)
{
	const struct forecast_graph *g = w->graph;
	size_t n = 0, number = MIN(max, w->number[node]);

	/* Few are met twice: no more than there are already. */
	for (size_t at = node; n < number; at = g->tree->nodes[at].parent) {
		for (size_t i = w->first[at]; n < number && i < w->first[at + 1]; i++) {
			if (w->seen[w->before[i]] == node + 1)
				continue;
			w->seen[w->before[i]] = node + 1;
			ret[n++] = g->tree->nodes[w->before[i]].config;
		}
	}
	return n;
}
