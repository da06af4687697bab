/*
 * Looking: settings, dependencies, and the forecast of a shutdown.  For that the present tree is converted
 * for model/forecast/forecast.h, which knows nodes by their indices.
 */

#include "daemon/control/requests-private.h"
#include "daemon/describe/describe.h"
#include "proto/config/settings.h"
#include "proto/plan.h"

static int request_survey_alloc(struct forecast_tree *tree, struct node *root)
{
	size_t nodes = 0, edges = 0;

	for (struct node *n = root; n; n = node_next(n, root)) {
		n->index = nodes++;
		for (enum edge edge = 0; edge < N_EDGES; edge++)
			for (struct node *const *to = node_edges(n, edge); to && *to; to++)
				edges++;
	}
	tree->nodes = calloc(nodes, sizeof(*tree->nodes));
	tree->edges = calloc(edges + 1, sizeof(*tree->edges));
	return tree->nodes && tree->edges ? 0 : -ENOMEM;
}

static int request_survey(struct forecast_tree *tree, struct node *root)
{
	int r = request_survey_alloc(tree, root);

	if (r < 0)
		return r;
	for (const struct node *n = root; n; n = node_next(n, root)) {
		struct forecast_node *node = &tree->nodes[tree->n_nodes++];

		node->path = n->path;
		node->config = n->config;
		node->parent = n->parent ? n->parent->index : FORECAST_NONE;
		for (enum edge edge = 0; edge < N_EDGES; edge++)
			for (struct node *const *to = node_edges(n, edge); to && *to; to++)
				tree->edges[tree->n_edges++] =
					forecast_edge_of(edge, n->index, (*to)->index);
	}
	return 0;
}

void request_plan(struct request *q, struct node *node, const struct message_call *call)
{
	cleanup(forecast_tree_done) struct forecast_tree tree = { .nodes = NULL };
	cleanup(forecast_freep) struct forecast *f = NULL;
	int r = request_survey(&tree, q->tree->root);

	tree.grace_usec = MIN(q->tree->ctx->grace_usec,
			      message_get_number(call->parameters, "within_usec", USEC_INFINITY));
	if (r == 0)
		r = forecast_new(&f, &tree, node->index);
	if (r < 0)
		request_fail(q, ERROR_FAILED, node_name(node), "out of memory");
	else
		request_reply(q, plan_build(f, q->tree->ctx->grace_usec));
}

void request_show(struct request *q, struct node *node, const struct message_call *call)
{
	request_reply(q, settings_json(q->tree->config, node->config, node->transient,
				       q->connection->tier > TIER_LOOK));
}

void request_dependencies(struct request *q, struct node *node, const struct message_call *call)
{
	request_reply(q, describe_dependencies(q->tree, node));
}
