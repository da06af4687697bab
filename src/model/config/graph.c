#include "model/config/graph.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memstream.h"
#include "model/forecast/forecast-graph.h"
#include "model/keys/keys.h"

/*
 * Every node N is two vertices, start(N) and ready(N), and an arrow says "needs":
 *
 *	ready(N) ─▶ start(N)			nothing is ready that was not started
 *	start(child) ─▶ start(parent)		a node's start is that of all in it
 *	ready(parent) ─▶ ready(child)		it is ready when all in it is
 *	start(A) ─▶ ready(B)			for an edge A -> B of the configuration
 *
 * A circle of arrows can never come to be.  Without the last kind there is none, so that every
 * circle has an edge to be named by.
 *
 * The stop is the start backwards: what must be ready before A starts is signalled after A is
 * Complete.  "B term-after A" says that of the stop alone; it is an arrow like that of an edge A ->
 * B, and a circle with such an arrow could start, but not end.  So these are the arrows of the
 * graph of a forecast, turned round.
 *
 * A vertex that the order of the forecast lacks needs another that it lacks, so that going from one
 * to the next ends in a circle.  It is reported, its last edge is broken, and the order goes on:
 * what it lacks then is in a further circle, or needs one.
 */

#define STEPS_SHOWN 40

struct graph {
	const struct config *config;
	struct diag *diag;
	struct forecast_tree tree;
	struct forecast_graph arrows;
	unsigned *walks; /* of each vertex: the last walk that came to it */
	size_t *circle;	 /* edges, each from the node that the one after it ends at */
	size_t n;
};

static void graph_done(struct graph *g)
{
	forecast_graph_done(&g->arrows);
	forecast_tree_done(&g->tree);
	free(g->walks);
	free(g->circle);
}

/* Returns true if the order lacks the vertex. */
static bool graph_lacks(const struct graph *g, size_t node, enum forecast_side side)
{
	return g->arrows.needs[forecast_vertex(node, side)] > 0;
}

/* The next vertex that @vertex, which the order lacks, needs; *edge: the edge between them, if any. */
static size_t graph_next(const struct graph *g, size_t vertex, size_t *edge)
{
	size_t node = forecast_vertex_node(vertex), parent = g->tree.nodes[node].parent;

	*edge = FORECAST_NOBODY;
	if (forecast_vertex_side(vertex) == FORECAST_END) {
		if (graph_lacks(g, node, FORECAST_GATE))
			return forecast_vertex(node, FORECAST_GATE);
		node = g->arrows.children.first[node];
		while (!graph_lacks(g, node, FORECAST_END))
			node = g->arrows.children.next[node];
		return forecast_vertex(node, FORECAST_END);
	}
	forecast_for_each (e, g->arrows.blockers, node)
		if (!g->tree.edges[e].broken &&
		    graph_lacks(g, g->tree.edges[e].before, FORECAST_END)) {
			*edge = e;
			return forecast_vertex(g->tree.edges[e].before, FORECAST_END);
		}
	return forecast_vertex(parent, FORECAST_GATE);
}

/* Finds the edges of a circle, the last one first.  The end of the root needs all there is. */
static void graph_find_circle(struct graph *g, unsigned walk)
{
	size_t vertex = forecast_vertex(0, FORECAST_END), first, edge;

	while (g->walks[vertex] != walk) {
		g->walks[vertex] = walk;
		vertex = graph_next(g, vertex, &edge);
	}
	g->n = 0;
	first = vertex;
	do {
		vertex = graph_next(g, vertex, &edge);
		if (edge != FORECAST_NOBODY)
			g->circle[g->n++] = edge;
	} while (vertex != first);
}

/* Edge @i of the circle, from the one whose node is the first of the configuration. */
static const struct forecast_edge *graph_edge(const struct graph *g, size_t first, size_t i)
{
	return &g->tree.edges[g->circle[(first + g->n - i % g->n) % g->n]];
}

/* "a requires b/x, which is in b": @edge, and how its end hangs together with @next's begin. */
static void graph_write_edge(const struct graph *g, FILE *out, const struct forecast_edge *edge,
			     const struct forecast_edge *next)
{
	const struct node_config *from = g->config->nodes[edge->before];
	const struct node_config *to = g->config->nodes[edge->after];
	const struct node_config *onward = g->config->nodes[next->before];

	(void)fprintf(out, "%s %s %s", node_config_section(from),
		      edge->edge == EDGE_TERM_AFTER ? "ends before (term-after)"
						    : keys[key_of_edge(edge->edge)].name,
		      node_config_section(to));
	if (to != onward)
		(void)fprintf(out, ", which %s %s",
			      node_config_is_within(to, onward) ? "is in" : "holds",
			      node_config_section(onward));
}

/* Writes the edges.  Return: is one of them about the stop alone? */
static bool graph_write_circle(const struct graph *g, FILE *out, size_t first)
{
	bool at_the_stop = false;

	for (size_t i = 0; i < g->n; i++) {
		const struct forecast_edge *edge = graph_edge(g, first, i);

		at_the_stop |= edge->edge == EDGE_TERM_AFTER;
		if (i == STEPS_SHOWN && i < g->n - 1)
			(void)fprintf(out, "; and %zu more", g->n - STEPS_SHOWN - 1);
		if (i >= STEPS_SHOWN && i < g->n - 1)
			continue;
		(void)fputs(i ? "; " : "", out);
		graph_write_edge(g, out, edge, graph_edge(g, first, i + 1));
	}
	return at_the_stop;
}

/* The first edge is where it is reported: in the section that has it.  Breaks the last one. */
static int graph_report(struct graph *g)
{
	cleanup(freep) char *text = NULL;
	const struct forecast_edge *edge;
	const struct node_config *node;
	struct memstream m;
	bool at_the_stop;
	size_t first = 0;
	int r = memstream_open(&m);

	if (r < 0)
		return r;
	for (size_t i = 1; i < g->n; i++)
		if (graph_edge(g, i, 0)->before < graph_edge(g, first, 0)->before)
			first = i;
	at_the_stop = graph_write_circle(g, m.file, first);
	r = memstream_close(&m, &text);
	if (r < 0)
		return r;
	edge = graph_edge(g, first, 0);
	node = g->config->nodes[edge->edge == EDGE_TERM_AFTER ? edge->after : edge->before];
	diag_add(g->diag, DIAG_ERROR,
		 (struct place){ node->place.file, node->parts.edges->lines[edge->edge] },
		 "[%s] %s: a circle that could never %s, allowed without one of its steps: %s",
		 node_config_section(node), keys[key_of_edge(edge->edge)].name,
		 at_the_stop ? "end" : "start", text);
	forecast_graph_break(&g->arrows, g->circle[(first + 1) % g->n]);
	return 0;
}

int graph_check(const struct config *config, struct diag *diag)
{
	cleanup(graph_done) struct graph g = { .config = config, .diag = diag };
	size_t n = 2 * config->n_nodes;
	int r = forecast_tree_init(&g.tree, config);

	if (r == 0)
		r = forecast_graph_init(&g.arrows, &g.tree, 0);
	if (r < 0 || g.arrows.n_order == n)
		return r;
	g.walks = calloc(n, sizeof(*g.walks));
	g.circle = calloc(n, sizeof(*g.circle));
	if (!g.walks || !g.circle)
		return -ENOMEM;
	for (unsigned walk = 1; r == 0 && walk <= DIAG_MAX && g.arrows.n_order < n; walk++) {
		graph_find_circle(&g, walk);
		r = graph_report(&g);
	}
	return r;
}
