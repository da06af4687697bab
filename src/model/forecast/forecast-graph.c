/*
 * The order is a topological sort: a vertex enters the order when no vertex that it needs is
 * missing.  Lists are arrays of first and next indices, so that a graph takes few allocations.
 */
#include "model/forecast/forecast-graph.h"

int forecast_tree_link(struct forecast_tree *tree, enum edge edge, size_t node, size_t target)
{
	bool turned = edge == EDGE_TERM_AFTER;

	return array_append(tree->edges, tree->n_edges,
			    (struct forecast_edge){
				    .before = turned ? target : node,
				    .after = turned ? node : target,
				    .edge = edge,
			    });
}

static int forecast_link_all(struct forecast_tree *tree, const struct config *config,
			     enum edge edge)
{
	int r = 0;

	for (size_t i = 0; i < config->n_nodes; i++) {
		struct node_config **to = node_config_edges(config->nodes[i], edge);

		for (; r == 0 && to && *to; to++)
			r = forecast_tree_link(tree, edge, i, (*to)->index);
	}
	return r;
}

int forecast_tree_init(struct forecast_tree *tree, const struct config *config)
{
	int r = 0;

	*tree = (struct forecast_tree){ .grace_usec = USEC_INFINITY };
	for (size_t i = 0; r == 0 && i < config->n_nodes; i++) {
		const struct node_config *node = config->nodes[i];
		size_t parent = node->parent ? node->parent->index : FORECAST_NONE;

		r = array_append(tree->nodes, tree->n_nodes,
				 (struct forecast_node){ node, node->path, parent });
	}
	for (enum edge edge = 0; r == 0 && edge < N_EDGES; edge++)
		r = forecast_link_all(tree, config, edge);
	if (r < 0)
		forecast_tree_done(tree);
	return r;
}

void forecast_tree_done(struct forecast_tree *tree)
{
	free(tree->nodes);
	free(tree->edges);
	*tree = (struct forecast_tree){ .nodes = NULL };
}

/* --- the graph --- */

static void forecast_links_done(struct forecast_links *links)
{
	free(links->first);
	free(links->next);
}

void forecast_graph_done(struct forecast_graph *g)
{
	forecast_links_done(&g->children);
	forecast_links_done(&g->blockers);
	forecast_links_done(&g->blocked);
	free(g->stopped);
	free(g->needs);
	free(g->order);
}

static size_t forecast_parent_of(const struct forecast_tree *tree, size_t node)
{
	return tree->nodes[node].parent;
}

static size_t forecast_after_of(const struct forecast_tree *tree, size_t edge)
{
	return tree->edges[edge].after;
}

static size_t forecast_before_of(const struct forecast_tree *tree, size_t edge)
{
	return tree->edges[edge].before;
}

/* Puts each of @n items on the list of its node, in their order. */
static int forecast_links_init(struct forecast_links *links, const struct forecast_tree *tree,
			       size_t n,
			       size_t (*node_of)(const struct forecast_tree *tree, size_t item))
{
	links->first = calloc(tree->n_nodes, sizeof(*links->first));
	links->next = calloc(n + 1, sizeof(*links->next));
	if (!links->first || !links->next)
		return -ENOMEM;
	for (size_t i = 0; i < tree->n_nodes; i++)
		links->first[i] = FORECAST_NONE;
	while (n-- > 0) {
		size_t node = node_of(tree, n);

		if (node == FORECAST_NONE)
			continue;
		links->next[n] = links->first[node];
		links->first[node] = n;
	}
	return 0;
}

static void forecast_stop_node(struct forecast_graph *g, size_t node, size_t *n)
{
	if (g->stopped[node])
		return;
	g->stopped[node] = true;
	g->order[(*n)++] = node;
}

/*
 * Marks all nodes below @top, and the nodes that require one of them, as shutdown_stop() does.  The
 * array of the order is used as memory for the walk.
 */
static void forecast_mark_stopped(struct forecast_graph *g, size_t top)
{
	size_t n = 0;

	forecast_stop_node(g, top, &n);
	for (size_t next = 0; next < n; next++) {
		size_t node = g->order[next];

		forecast_for_each (c, g->children, node)
			forecast_stop_node(g, c, &n);
		forecast_for_each (e, g->blockers, node)
			if (g->tree->edges[e].edge == EDGE_REQUIRES ||
			    g->tree->edges[e].edge == EDGE_BINDS_TO)
				forecast_stop_node(g, g->tree->edges[e].before, &n);
	}
}

/* A vertex that this one needs is in the order now. */
static void forecast_satisfy_need(struct forecast_graph *g, size_t node, enum forecast_side side)
{
	size_t vertex = forecast_vertex(node, side);

	if (g->stopped[node] && --g->needs[vertex] == 0)
		g->order[g->n_order++] = vertex;
}

static void forecast_count_needs(struct forecast_graph *g)
{
	for (size_t i = 0; i < g->tree->n_nodes; i++) {
		size_t parent = g->tree->nodes[i].parent;
		size_t *gate = &g->needs[forecast_vertex(i, FORECAST_GATE)];

		/*
		 * Each count is one too high at first, so that vertices without needs enter in the order of
		 * nodes.
		 */
		*gate += 1;
		g->needs[forecast_vertex(i, FORECAST_END)] += 1;
		if (parent != FORECAST_NONE && g->stopped[parent])
			*gate += 1;
		if (parent != FORECAST_NONE)
			g->needs[forecast_vertex(parent, FORECAST_END)] += 1;
		forecast_for_each (e, g->blockers, i)
			*gate += g->stopped[g->tree->edges[e].before];
	}
}

static void forecast_sort_graph(struct forecast_graph *g)
{
	for (; g->n_followed < g->n_order; g->n_followed++) {
		size_t vertex = g->order[g->n_followed], node = forecast_vertex_node(vertex);

		if (forecast_vertex_side(vertex) == FORECAST_GATE) {
			forecast_satisfy_need(g, node, FORECAST_END);
			forecast_for_each (c, g->children, node)
				forecast_satisfy_need(g, c, FORECAST_GATE);
		} else {
			if (g->tree->nodes[node].parent != FORECAST_NONE)
				forecast_satisfy_need(g, g->tree->nodes[node].parent, FORECAST_END);
			forecast_for_each (e, g->blocked, node)
				if (!g->tree->edges[e].broken)
					forecast_satisfy_need(g, g->tree->edges[e].after,
							      FORECAST_GATE);
		}
	}
}

int forecast_graph_init(struct forecast_graph *graph, const struct forecast_tree *tree, size_t top)
{
	cleanup(forecast_graph_done) struct forecast_graph g = { .tree = tree };
	size_t n = tree->n_nodes;
	int r;

	g.stopped = calloc(n, sizeof(*g.stopped));
	g.needs = calloc(2 * n, sizeof(*g.needs));
	g.order = calloc(2 * n, sizeof(*g.order));
	r = g.stopped && g.needs && g.order ? 0 : -ENOMEM;
	if (r == 0)
		r = forecast_links_init(&g.children, tree, tree->n_nodes, forecast_parent_of);
	if (r == 0)
		r = forecast_links_init(&g.blockers, tree, tree->n_edges, forecast_after_of);
	if (r == 0)
		r = forecast_links_init(&g.blocked, tree, tree->n_edges, forecast_before_of);
	if (r < 0)
		return r;
	forecast_mark_stopped(&g, top);
	forecast_count_needs(&g);
	for (size_t i = 0; i < tree->n_nodes; i++)
		forecast_satisfy_need(&g, i, FORECAST_GATE);
	forecast_sort_graph(&g);
	*graph = g;
	g = (struct forecast_graph){ 0 };
	return 0;
}

void forecast_graph_break(struct forecast_graph *g, size_t edge)
{
	g->tree->edges[edge].broken = true;
	forecast_satisfy_need(g, g->tree->edges[edge].after, FORECAST_GATE);
	forecast_sort_graph(g);
}
