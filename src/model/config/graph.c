#include "model/config/graph.h"

#include "model/forecast/forecast-graph.h"
#include "model/keys/section.h"

/*
 * Every node N is two vertices, start(N) and ready(N), and an arrow means "needs":
 *
 *	ready(N) ─▶ start(N)			a node is ready after its start
 *	start(child) ─▶ start(parent)		the start of a node is that of all nodes in it
 *	ready(parent) ─▶ ready(child)		a node is ready when all nodes in it are
 *	start(A) ─▶ ready(B)			for an edge A -> B of the configuration
 *
 * Nodes on a cycle of arrows could never start.  Every cycle has an arrow of the last kind, as the
 * other kinds form none: the message names these edges.
 *
 * A stop is the start in reverse: a node that must be ready before A starts is signalled after A is
 * Complete.  "B term-after A" orders only the stop.  It is an arrow like that of an edge A -> B; a
 * cycle with such an arrow could start, but never end.  So the arrows are those of the forecast's
 * graph, reversed.
 *
 * A vertex that is missing in the order of the forecast needs another missing vertex; the walk from
 * each to the next therefore ends in a cycle.  The cycle is reported, its last edge is broken, and
 * the order continues.  A vertex that is still missing then is in another cycle, or needs one.
 */

#define STEPS_SHOWN 40

struct graph {
	const struct config *config;
	struct diag *diag;
	struct forecast_tree tree;
	struct forecast_graph arrows;
	unsigned *walks; /* of each vertex: the last walk that visited it */
	size_t *cycle;	 /* edges in reverse: each begins at the node where the next one ends */
	size_t n;
};

static void graph_done(struct graph *g)
{
	forecast_graph_done(&g->arrows);
	forecast_tree_done(&g->tree);
	free(g->walks);
	free(g->cycle);
}

/* Returns true if the vertex is missing in the order. */
static bool graph_lacks(const struct graph *g, size_t node, enum forecast_side side)
{
	return g->arrows.needs[forecast_vertex(node, side)] > 0;
}

/*
 * Returns a missing vertex that the missing @vertex needs; *edge is the edge between them, if any.
 */
static size_t graph_next(const struct graph *g, size_t vertex, size_t *edge)
{
	size_t node = forecast_vertex_node(vertex), parent = g->tree.nodes[node].parent;

	*edge = FORECAST_NONE;
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

/* Finds the edges of a cycle, the last one first.  The end of the root needs every vertex. */
static void graph_find_cycle(struct graph *g, unsigned walk)
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
		if (edge != FORECAST_NONE)
			g->cycle[g->n++] = edge;
	} while (vertex != first);
}

/* Edge @i of the cycle, counted from edge @first. */
static const struct forecast_edge *graph_edge(const struct graph *g, size_t first, size_t i)
{
	return &g->tree.edges[g->cycle[(first + g->n - i % g->n) % g->n]];
}

/*
 * "a requires b/x, which is in b": @edge, and how its last node is related to the first of @next.
 */
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
			      node_config_is_within(to, onward) ? "is in" : "contains",
			      node_config_section(onward));
}

/* "a → b → a: a requires b; b after a".  Returns true if one of the edges orders only the stop. */
static bool graph_write_cycle(const struct graph *g, FILE *out, size_t first)
{
	const struct forecast_edge *begin = graph_edge(g, first, 0);
	bool at_the_stop = false;

	for (size_t i = 0; i < MIN(g->n, (size_t)STEPS_SHOWN); i++) {
		const struct forecast_edge *edge = graph_edge(g, first, i);

		(void)fprintf(out, "%s → ", node_config_section(g->config->nodes[edge->before]));
		if (edge->after != graph_edge(g, first, i + 1)->before)
			(void)fprintf(out, "%s → ", node_config_section(g->config->nodes[edge->after]));
	}
	if (g->n > STEPS_SHOWN)
		(void)fputs("... → ", out);
	(void)fprintf(out, "%s: ", node_config_section(g->config->nodes[begin->before]));
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

/* Reports the cycle at its first edge, in the section with that key.  Breaks the last edge. */
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
	at_the_stop = graph_write_cycle(g, m.file, first);
	r = memstream_close(&m, &text);
	if (r < 0)
		return r;
	edge = graph_edge(g, first, 0);
	node = g->config->nodes[edge->edge == EDGE_TERM_AFTER ? edge->after : edge->before];
	diag_add(g->diag, DIAG_ERROR, node->parts.edges->places[edge->edge],
		 "[%s] %s: dependency cycle%s: %s", node_config_section(node),
		 keys[key_of_edge(edge->edge)].name, at_the_stop ? " at the stop" : "", text);
	forecast_graph_break(&g->arrows, g->cycle[(first + 1) % g->n]);
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
	g.cycle = calloc(n, sizeof(*g.cycle));
	if (!g.walks || !g.cycle)
		return -ENOMEM;
	for (unsigned walk = 1; r == 0 && walk <= DIAG_MAX && g.arrows.n_order < n; walk++) {
		graph_find_cycle(&g, walk);
		r = graph_report(&g);
	}
	return r;
}

/* --- ranks --- */

static bool graph_raise(int *rank, int to)
{
	bool raised = *rank < to;

	*rank = raised ? to : *rank;
	return raised;
}

/* Raises the groups that @node is in to its rank, and in @floors all services in the nodes that it requires. */
static bool graph_raise_around(const struct node_config *node, int *floors)
{
	bool raised = false;

	for (struct node_config *up = node->parent; up; up = up->parent)
		raised |= graph_raise(&up->stop_rank, node->stop_rank);
	for (enum edge edge = EDGE_REQUIRES; edge <= EDGE_BINDS_TO; edge++)
		for (struct node_config **to = node_config_edges(node, edge); to && *to; to++)
			raised |= graph_raise(&floors[(*to)->index], node->stop_rank);
	return raised;
}

int graph_rank(const struct config *config)
{
	cleanup(freep) int *floors = calloc(config->n_nodes, sizeof(*floors));
	bool raised = true;

	if (!floors)
		return -ENOMEM;
	for (size_t i = 0; i < config->n_nodes; i++) {
		struct node_config *node = config->nodes[i];

		floors[i] = INT_MIN;
		node->stop_rank = node->argv ? node->stop_priority : INT_MIN;
	}
	while (raised) {
		raised = false;
		for (size_t i = 0; i < config->n_nodes; i++) {
			struct node_config *node = config->nodes[i];

			if (node->parent)
				(void)graph_raise(&floors[i], floors[node->parent->index]);
			if (node->argv)
				(void)graph_raise(&node->stop_rank, floors[i]);
			raised |= graph_raise_around(node, floors);
		}
	}
	return 0;
}

int graph_check_pressure(const struct config *config, struct diag *diag)
{
	cleanup(freep) bool *lower = calloc(config->n_nodes, sizeof(*lower));

	if (!lower)
		return -ENOMEM;
	for (size_t i = config->n_nodes; i-- > 0;) {
		const struct node_config *node = config->nodes[i];

		lower[i] |= node->argv && node->stop_rank < config->nodes[0]->stop_rank;
		if (node->parent)
			lower[node->parent->index] |= lower[i];
		if (node_config_extras(node)->pressure_stop.window_usec && !lower[i])
			section_warn(node, diag, KEY_PRESSURE_STOP,
				     "has no effect, as no service in it has a lower stop-priority "
				     "than others: set one, for example stop-priority = -10");
	}
	return 0;
}
