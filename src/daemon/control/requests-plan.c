/*
 * Looking: settings, dependencies, and the forecast of a shutdown.  For that the present tree is converted
 * for model/forecast/forecast.h, which knows nodes by their indices.
 */

#include "daemon/control/requests-private.h"
#include "daemon/describe/describe.h"
#include "proto/config/settings.h"
#include "proto/plan.h"

static int request_survey(struct forecast_tree *tree, struct node *root)
{
	int r = 0;

	for (struct node *n = root; r == 0 && n; n = node_next(n, root)) {
		size_t parent = n->parent ? n->parent->index : FORECAST_NONE;

		n->index = tree->n_nodes;
		r = array_append(tree->nodes, tree->n_nodes,
				 (struct forecast_node){ n->config, n->path, parent });
	}
	for (struct node *n = root; r == 0 && n; n = node_next(n, root))
		for (enum edge edge = 0; edge < N_EDGES; edge++)
			for (struct node *const *to = node_edges(n, edge); r == 0 && to && *to;
			     to++)
				r = forecast_tree_link(tree, edge, n->index, (*to)->index);
	return r;
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
