#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/requests-private.h"
#include "model/forecast.h"
#include "proto/view.h"

/* The shutdown before it happens: the tree as it is now, put before model/forecast.h. */

/* Where a node is in the forecast's tree. */
struct place_of {
	const struct node *node;
	size_t index;
};

struct survey {
	struct forecast_tree tree;
	struct place_of *places; /* in the order of the addresses */
};

static void survey_done(struct survey *s)
{
	forecast_tree_done(&s->tree);
	free(s->places);
}

static int compare_places(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)((const struct place_of *)a)->node;
	uintptr_t y = (uintptr_t)((const struct place_of *)b)->node;

	return (x > y) - (x < y);
}

static size_t index_of(const struct survey *s, const struct node *node)
{
	struct place_of key = { .node = node };
	const struct place_of *found;

	if (!node)
		return FORECAST_NOBODY;
	found = bsearch(&key, s->places, s->tree.n_nodes, sizeof(*s->places), compare_places);
	return found->index;
}

static size_t count_edges(const struct node *node)
{
	size_t n = 0;

	for (enum edge edge = 0; edge < N_EDGES; edge++)
		for (struct node *const *to = node_edges(node, edge); to && *to; to++)
			n++;
	return n;
}

static int survey_alloc(struct survey *s, const struct node *root)
{
	size_t nodes = 0, edges = 0;

	for (const struct node *n = root; n; n = node_next(n, root)) {
		nodes++;
		edges += count_edges(n);
	}
	s->tree.nodes = calloc(nodes, sizeof(*s->tree.nodes));
	s->tree.edges = calloc(edges + 1, sizeof(*s->tree.edges));
	s->places = calloc(nodes, sizeof(*s->places));
	return s->tree.nodes && s->tree.edges && s->places ? 0 : -ENOMEM;
}

static void add_edges(struct survey *s, const struct node *node)
{
	for (enum edge edge = 0; edge < N_EDGES; edge++)
		for (struct node *const *to = node_edges(node, edge); to && *to; to++)
			s->tree.edges[s->tree.n_edges++] =
				forecast_edge_of(edge, index_of(s, node), index_of(s, *to));
}

static int survey_init(struct survey *s, const struct node *root)
{
	int r = survey_alloc(s, root);

	if (r < 0)
		return r;
	for (const struct node *n = root; n; n = node_next(n, root)) {
		s->places[s->tree.n_nodes] = (struct place_of){ n, s->tree.n_nodes };
		s->tree.nodes[s->tree.n_nodes++].config = n->config;
	}
	qsort(s->places, s->tree.n_nodes, sizeof(*s->places), compare_places);
	for (const struct node *n = root; n; n = node_next(n, root)) {
		s->tree.nodes[index_of(s, n)].parent = index_of(s, n->parent);
		add_edges(s, n);
	}
	return 0;
}

static int forecast(struct tree *tree, const struct node *top, struct forecast **ret)
{
	cleanup(survey_done) struct survey s = { .places = NULL };
	int r = survey_init(&s, tree->root);

	s.tree.grace_usec = tree->ctx->grace_usec;
	return r < 0 ? r : forecast_new(ret, &s.tree, index_of(&s, top));
}

struct walk {
	const struct forecast *forecast;
	size_t next;
};

static const char *budget_path(const struct forecast_times *times)
{
	return times->budget ? times->budget->path : NULL;
}

static struct plan_entry_view view_row(const struct forecast_row *row, json_t *waits)
{
	const struct forecast_times *idle = &row->times[FORECAST_IDLE];
	const struct forecast_times *busy = &row->times[FORECAST_BUSY];

	return (struct plan_entry_view){
		.node = row->node->path,
		.kind = forecast_kind_name(row->kind),
		.step = row->step,
		.waits = waits,
		.more_waits = row->n_more ? row->n_more : FIELD_NONE,
		.critical = row->critical,
		.soonest_usec = row->times[FORECAST_SOONEST].begin_usec,
		.begin_usec = idle->begin_usec,
		.end_usec = idle->end_usec,
		.budget = budget_path(idle),
		.busy_begin_usec = busy->begin_usec,
		.busy_end_usec = busy->end_usec,
		.busy_budget = budget_path(busy),
	};
}

static int append_row(struct writer *to, void *arg)
{
	cleanup(json_decrefp) json_t *waits = NULL;
	struct walk *walk = arg;
	struct plan_entry_view view;
	const struct forecast_row *row;

	if (walk->next == walk->forecast->n_rows)
		return 0;
	row = &walk->forecast->rows[walk->next++];
	waits = json_array();
	if (!waits)
		return -ENOMEM;
	for (size_t i = 0; i < row->n_waits; i++)
		if (json_array_append_new(waits, message_string(row->waits[i]->path)) < 0)
			return -ENOMEM;
	view = view_row(row, waits);
	plan_entry_view_append(to, &view);
	return 1;
}

/* NULL: it is to be left out. */
static json_t *bounded(uint64_t usec)
{
	return usec == USEC_INFINITY ? NULL : json_integer((json_int_t)usec);
}

void request_plan(struct request *q, struct node *node, const struct message_call *call)
{
	cleanup(forecast_freep) struct forecast *f = NULL;
	struct walk walk = { .next = 0 };

	(void)call;
	if (forecast(q->tree, node, &f) < 0) {
		request_fail(q, ERROR_FAILED, node_name(node), "out of memory");
		return;
	}
	walk.forecast = f;
	connection_reply_list_with(q->connection, "entries", append_row, &walk,
				   json_pack("{s:o*, s:o*, s:o*}", "idle_usec",
					     bounded(f->end_usec[FORECAST_IDLE]), "busy_usec",
					     bounded(f->end_usec[FORECAST_BUSY]), "grace_usec",
					     bounded(q->tree->ctx->grace_usec)));
}
