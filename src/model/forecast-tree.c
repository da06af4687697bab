#include "model/forecast.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

struct forecast_edge forecast_edge_of(enum edge edge, size_t node, size_t target)
{
	if (edge == EDGE_TERM_AFTER)
		return (struct forecast_edge){ .before = target, .after = node };
	return (struct forecast_edge){
		.before = node,
		.after = target,
		.requires = edge == EDGE_REQUIRES,
	};
}

static size_t count_edges(const struct config *config)
{
	size_t n = 0;

	for (size_t i = 0; i < config->n_nodes; i++)
		for (enum edge edge = 0; edge < N_EDGES; edge++)
			for (struct node_config **to = node_config_edges(config->nodes[i], edge);
			     to && *to; to++)
				n++;
	return n;
}

static void add_node(struct forecast_tree *tree, const struct node_config *config)
{
	size_t parent = config->parent ? config->parent->index : FORECAST_NOBODY;

	tree->nodes[tree->n_nodes++] = (struct forecast_node){ config, parent };
	for (enum edge edge = 0; edge < N_EDGES; edge++)
		for (struct node_config **to = node_config_edges(config, edge); to && *to; to++)
			tree->edges[tree->n_edges++] =
				forecast_edge_of(edge, config->index, (*to)->index);
}

int forecast_tree_init(struct forecast_tree *tree, const struct config *config)
{
	*tree = (struct forecast_tree){
		.grace_usec = USEC_INFINITY,
		.nodes = calloc(config->n_nodes, sizeof(*tree->nodes)),
		.edges = calloc(count_edges(config) + 1, sizeof(*tree->edges)),
	};
	if (!tree->nodes || !tree->edges) {
		forecast_tree_done(tree);
		return -ENOMEM;
	}
	for (size_t i = 0; i < config->n_nodes; i++)
		add_node(tree, config->nodes[i]);
	return 0;
}

void forecast_tree_done(struct forecast_tree *tree)
{
	free(tree->nodes);
	free(tree->edges);
	*tree = (struct forecast_tree){ .nodes = NULL };
}
