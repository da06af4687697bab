/*
 * Looking: settings, dependencies, and the forecast of a shutdown.  For that the present tree is converted
 * for model/forecast/forecast.h, which knows nodes by their indices.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "daemon/control/requests-private.h"
#include "daemon/describe/describe.h"
#include "proto/config/settings.h"
#include "proto/plan.h"

/* The index of a node in the tree of the forecast. */
struct place_of {
	const struct node *node;
	size_t index;
};

struct survey {
	struct forecast_tree tree;
	struct place_of *places; /* sorted by address */
};

static void request_survey_done(struct survey *s)
{
	forecast_tree_done(&s->tree);
	free(s->places);
}

static int request_compare_places(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct place_of *)a)->node;
	uintptr_t y = (uintptr_t)((const struct place_of *)b)->node;

	return (x > y) - (x < y);
}

static size_t request_index_of(const struct survey *s, const struct node *node)
{
	struct place_of key = { .node = node };
	const struct place_of *found;

	if (!node)
		return FORECAST_NONE;
	found = bsearch(&key, s->places, s->tree.n_nodes, sizeof(*s->places),
			request_compare_places);
	return found->index;
}

static int request_survey_alloc(struct survey *s, const struct node *root)
{
	size_t nodes = 0, edges = 0;

	for (const struct node *n = root; n; n = node_next(n, root)) {
		nodes++;
		for (enum edge edge = 0; edge < N_EDGES; edge++)
			for (struct node *const *to = node_edges(n, edge); to && *to; to++)
				edges++;
	}
	s->tree.nodes = calloc(nodes, sizeof(*s->tree.nodes));
	s->tree.edges = calloc(edges + 1, sizeof(*s->tree.edges));
	s->places = calloc(nodes, sizeof(*s->places));
	return s->tree.nodes && s->tree.edges && s->places ? 0 : -ENOMEM;
}

static int request_survey_init(struct survey *s, const struct node *root)
{
	int r = request_survey_alloc(s, root);

	if (r < 0)
		return r;
	for (const struct node *n = root; n; n = node_next(n, root)) {
		s->places[s->tree.n_nodes] = (struct place_of){ n, s->tree.n_nodes };
		s->tree.nodes[s->tree.n_nodes++].config = n->config;
	}
	qsort(s->places, s->tree.n_nodes, sizeof(*s->places), request_compare_places);
	for (const struct node *n = root; n; n = node_next(n, root)) {
		s->tree.nodes[request_index_of(s, n)].parent = request_index_of(s, n->parent);
		for (enum edge edge = 0; edge < N_EDGES; edge++)
			for (struct node *const *to = node_edges(n, edge); to && *to; to++)
				s->tree.edges[s->tree.n_edges++] = forecast_edge_of(
					edge, request_index_of(s, n), request_index_of(s, *to));
	}
	return 0;
}

void request_plan(struct request *q, struct node *node, const struct message_call *call)
{
	cleanup(request_survey_done) struct survey s = { .places = NULL };
	cleanup(forecast_freep) struct forecast *f = NULL;
	int r = request_survey_init(&s, q->tree->root);

	s.tree.grace_usec = q->tree->ctx->grace_usec;
	if (r == 0)
		r = forecast_new(&f, &s.tree, request_index_of(&s, node));
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
