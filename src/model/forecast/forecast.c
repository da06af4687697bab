#include "model/forecast/forecast.h"

#include "model/life/budget.h"
#include "model/forecast/forecast-order.h"

/*
 * The vertices of the graph are visited once, each after the vertices that it needs.  Its time in
 * each case is the latest time of those, plus the time that its own node adds.
 */

#define NO_VERTEX SIZE_MAX
#define NO_ROW	  SIZE_MAX

/* The time of a vertex. */
struct moment {
	uint64_t usec[N_FORECASTS];
	unsigned step;
	size_t because; /* the vertex that it waits for, when idle; or NO_VERTEX */
	size_t row;	/* the end of a service: its row; or NO_ROW */
	size_t final;	/* the end of a node: the row of its final, or NO_ROW */
};

struct work {
	struct forecast_graph graph;
	struct moment *moments;		     /* of each vertex */
	struct forecast_deadline *deadlines; /* of each node */
	struct forecast_followers followers;
	struct forecast_row *rows;
	size_t n_rows;
	uint64_t abandon_usec;
};

static void forecast_work_done(struct work *w)
{
	forecast_graph_done(&w->graph);
	forecast_followers_done(&w->followers);
	free(w->moments);
	free(w->deadlines);
	free(w->rows);
}

static void forecast_set_deadline(struct work *w, const struct forecast_node *node,
				  struct forecast_deadline *d)
{
	const struct node_config *config = node->config;
	bool has_final = node_config_hook(config, HOOK_FINAL)->n > 0;
	/* The budget of the root is limited by the grace of the parent manager. */
	uint64_t granted = node->parent == FORECAST_NONE
				   ? budget_of_grace(w->graph.tree->grace_usec)
				   : USEC_INFINITY;
	uint64_t budget = MIN(config->shutdown_timeout_usec, granted);

	if (node->parent != FORECAST_NONE) {
		d->usec = w->deadlines[node->parent].kill_usec;
		d->of = w->deadlines[node->parent].of;
	}
	if (budget < d->usec) {
		d->usec = budget;
		d->of = config;
	}
	d->yields = d->latest_usec < d->usec;
	d->usec = MIN(d->usec, d->latest_usec);
	d->kill_usec = budget_before(
		d->usec, 0, has_final ? node_config_extras(config)->final_timeout_usec : 0);
	if (node->parent == FORECAST_NONE)
		w->abandon_usec = clock_add(d->usec, BUDGET_ABANDON_USEC);
}

static void forecast_set_deadlines(struct work *w)
{
	const struct forecast_tree *tree = w->graph.tree;

	w->abandon_usec = USEC_INFINITY;
	for (size_t i = 0; i < tree->n_nodes; i++) {
		struct forecast_deadline *d = &w->deadlines[i];

		d->usec = d->kill_usec = USEC_INFINITY;
		if (w->graph.stopped[i])
			forecast_set_deadline(w, &tree->nodes[i], d);
	}
}

/* --- the time of one node, at the latest: daemon/service/timeout.c, daemon/spawn/final.c --- */

/* A service, with its times in each case. */
struct ending {
	const struct node_config *config;
	const struct forecast_deadline *deadline;
	uint64_t followers_usec;
	bool has_post_stop;
};

static uint64_t forecast_gone_by(const struct ending *e, uint64_t now)
{
	return budget_before(e->deadline->kill_usec, now, e->followers_usec);
}

static uint64_t forecast_last_call(const struct ending *e, uint64_t now)
{
	uint64_t end = forecast_gone_by(e, now);

	return e->has_post_stop ? budget_before(end, now, BUDGET_LAST_USEC) : end;
}

/* drain-delay begins at the stop, and leaves time for the stop signal. */
static uint64_t forecast_drained_at(const struct ending *e)
{
	return MIN(node_config_extras(e->config)->drain_delay_usec,
		   budget_before(forecast_last_call(e, 0), 0, e->config->stop_timeout_usec));
}

/*
 * The worst busy case: a guard is held until drain-timeout expires, and the service ends only then;
 * or the service requests more time repeatedly.
 */
static uint64_t forecast_requested_usec(const struct ending *e, enum forecast_case c)
{
	if (c != FORECAST_BUSY)
		return e->config->stop_timeout_usec;
	if (e->config->notify)
		return USEC_INFINITY;
	return clock_add(e->config->stop_timeout_usec, e->config->drain_timeout_usec);
}

static uint64_t forecast_after_post_stop(const struct ending *e, uint64_t begin)
{
	uint64_t least = clock_add(begin, BUDGET_LAST_USEC), by = forecast_gone_by(e, begin);
	uint64_t end = MIN(clock_add(begin, e->config->stop_timeout_usec), by > least ? by : least);

	return clock_add(end, forecast_kill_usec(e->config));
}

static void forecast_time_service(const struct ending *e, enum forecast_case c, uint64_t gate,
				  struct forecast_times *t)
{
	uint64_t drained = forecast_drained_at(e);
	uint64_t begin = gate > drained ? gate : drained;
	uint64_t wanted = clock_add(begin, forecast_requested_usec(e, c));
	uint64_t allowed = MIN(forecast_last_call(e, begin), e->deadline->kill_usec);

	t->begin_usec = MIN(begin, e->deadline->kill_usec);
	t->end_usec = clock_add(MIN(wanted, allowed), forecast_kill_usec(e->config));
	if (e->has_post_stop)
		t->end_usec = forecast_after_post_stop(e, t->end_usec);
	t->budget = wanted > allowed || drained < node_config_extras(e->config)->drain_delay_usec
			    ? e->deadline->of
			    : NULL;
	t->yields = t->budget && e->deadline->yields;
}

static void forecast_time_final(const struct node_config *config,
				const struct forecast_deadline *deadline, uint64_t begin,
				struct forecast_times *t)
{
	uint64_t wanted = clock_add(begin, node_config_extras(config)->final_timeout_usec);
	uint64_t least = clock_add(begin, BUDGET_LAST_USEC);
	uint64_t allowed = deadline->usec > least ? deadline->usec : least;

	t->begin_usec = begin;
	t->end_usec = clock_add(MIN(wanted, allowed), BUDGET_KILL_AGAIN_USEC);
	t->budget = wanted > allowed ? deadline->of : NULL;
}

static struct forecast_row *forecast_add_row(struct work *w, size_t node, enum forecast_kind kind,
					     unsigned step)
{
	struct forecast_row *row = &w->rows[w->n_rows++];

	*row = (struct forecast_row){
		.node = w->graph.tree->nodes[node].config,
		.path = w->graph.tree->nodes[node].path,
		.index = node,
		.kind = kind,
		.step = step,
	};
	return row;
}

/* In the soonest case it ends when it begins; after the abandon time nothing waits for it. */
static void forecast_end_row(const struct work *w, enum forecast_case c, struct forecast_times *t,
			     struct moment *end)
{
	if (c == FORECAST_SOONEST)
		t->end_usec = t->begin_usec;
	t->end_usec = MIN(t->end_usec, w->abandon_usec);
	end->usec[c] = t->end_usec;
}

static void forecast_add_service(struct work *w, size_t node, const struct moment *gate,
				 struct moment *end)
{
	struct forecast_row *row = forecast_add_row(w, node, FORECAST_SERVICE, gate->step);
	struct ending ending = {
		.config = row->node,
		.deadline = &w->deadlines[node],
		.followers_usec = forecast_followers_timeout(&w->followers, node,
							     w->deadlines[node].kill_usec),
		.has_post_stop = node_config_has_hook(row->node, HOOK_POST_STOP),
	};

	for (enum forecast_case c = 0; c < N_FORECASTS; c++) {
		forecast_time_service(&ending, c, gate->usec[c], &row->times[c]);
		forecast_end_row(w, c, &row->times[c], end);
	}
	end->row = w->n_rows - 1;
	if (row->times[FORECAST_IDLE].begin_usec <= gate->usec[FORECAST_IDLE])
		end->because = forecast_vertex(node, FORECAST_GATE);
}

/* --- the vertices --- */

/* Moves @m to vertex @needed or later, and to its step plus @steps or later. */
static void forecast_follow_vertex(struct work *w, struct moment *m, size_t needed, unsigned steps)
{
	const struct moment *n = &w->moments[needed];

	if (n->usec[FORECAST_IDLE] > m->usec[FORECAST_IDLE]) {
		m->because = needed;
		m->row = NO_ROW;
	}
	for (enum forecast_case c = 0; c < N_FORECASTS; c++)
		m->usec[c] = n->usec[c] > m->usec[c] ? n->usec[c] : m->usec[c];
	m->step = n->step + steps > m->step ? n->step + steps : m->step;
}

static void forecast_find_gate(struct work *w, size_t node, struct moment *m)
{
	const struct forecast_graph *g = &w->graph;
	size_t parent = g->tree->nodes[node].parent;

	m->step = 1;
	if (parent != FORECAST_NONE && g->stopped[parent])
		forecast_follow_vertex(w, m, forecast_vertex(parent, FORECAST_GATE), 0);
	forecast_for_each (e, g->blockers, node)
		if (g->stopped[g->tree->edges[e].before])
			forecast_follow_vertex(
				w, m, forecast_vertex(g->tree->edges[e].before, FORECAST_END), 1);
}

static void forecast_find_end(struct work *w, size_t node, struct moment *m)
{
	const struct forecast_graph *g = &w->graph;
	const struct node_config *config = g->tree->nodes[node].config;
	size_t gate = forecast_vertex(node, FORECAST_GATE);
	/* Guards on the node itself are revoked when its budget is spent. */
	uint64_t held = MIN(w->deadlines[node].kill_usec, w->abandon_usec);

	m->step = w->moments[gate].step;
	if (config->argv)
		forecast_add_service(w, node, &w->moments[gate], m);
	forecast_for_each (c, g->children, node)
		forecast_follow_vertex(w, m, forecast_vertex(c, FORECAST_END), 0);
	if (held > m->usec[FORECAST_BUSY])
		m->usec[FORECAST_BUSY] = held;
	if (node_config_hook(config, HOOK_FINAL)->n > 0) {
		struct forecast_row *row = forecast_add_row(w, node, FORECAST_FINAL, ++m->step);

		for (enum forecast_case c = 0; c < N_FORECASTS; c++) {
			forecast_time_final(row->node, &w->deadlines[node], m->usec[c],
					    &row->times[c]);
			forecast_end_row(w, c, &row->times[c], m);
		}
		m->final = w->n_rows - 1;
	}
}

static void forecast_find_all(struct work *w)
{
	for (size_t i = 0; i < w->graph.n_order; i++) {
		size_t vertex = w->graph.order[i], node = forecast_vertex_node(vertex);
		struct moment *m = &w->moments[vertex];

		m->because = NO_VERTEX;
		m->row = m->final = NO_ROW;
		if (forecast_vertex_side(vertex) == FORECAST_GATE)
			forecast_find_gate(w, node, m);
		else
			forecast_find_end(w, node, m);
	}
}

static int forecast_compare_rows(const void *a, const void *b)
{
	const struct forecast_row *x = a, *y = b;
	uint64_t x_usec = x->times[FORECAST_SOONEST].begin_usec;
	uint64_t y_usec = y->times[FORECAST_SOONEST].begin_usec;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x_usec != y_usec)
		return x_usec < y_usec ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

/* --- the result --- */

/* Stores the nodes that each row waits for, in one array for all rows. */
static int forecast_store_waits(struct forecast *f, const struct forecast_graph *graph)
{
	cleanup(forecast_waits_done) struct forecast_waits waits = { .before = NULL };
	int r = forecast_waits_init(&waits, graph);
	size_t size = 1, n = 0;

	for (size_t i = 0; r == 0 && i < f->n_rows; i++)
		if (f->rows[i].kind == FORECAST_SERVICE)
			size += MIN(waits.number[f->rows[i].index], (size_t)FORECAST_WAITS_MAX);
	f->waits = calloc(size, sizeof(*f->waits));
	if (r < 0 || !f->waits)
		return -ENOMEM;
	for (size_t i = 0; i < f->n_rows; i++) {
		struct forecast_row *row = &f->rows[i];

		row->waits = f->waits + n;
		if (row->kind != FORECAST_SERVICE)
			continue;
		row->n_waits =
			forecast_waits_get(&waits, row->index, f->waits + n, FORECAST_WAITS_MAX);
		row->n_more = waits.number[row->index] - row->n_waits;
		n += row->n_waits;
	}
	return 0;
}

int forecast_new(struct forecast **ret, const struct forecast_tree *tree, size_t top)
{
	cleanup(forecast_work_done) struct work w = { .rows = NULL };
	cleanup(forecast_freep) struct forecast *f = calloc(1, sizeof(*f));
	int r;
	size_t vertex = forecast_vertex(top, FORECAST_END);

	if (!f)
		return -ENOMEM;
	r = forecast_graph_init(&w.graph, tree, top);
	if (r == 0) {
		size_t n = w.graph.tree->n_nodes;

		w.moments = calloc(2 * n, sizeof(*w.moments));
		w.deadlines = calloc(n, sizeof(*w.deadlines));
		w.rows = calloc(2 * n, sizeof(*w.rows));
		r = w.moments && w.deadlines && w.rows ? 0 : -ENOMEM;
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < tree->n_nodes; i++)
		w.deadlines[i].latest_usec = USEC_INFINITY;
	forecast_set_deadlines(&w);
	r = forecast_yield(&w.graph, w.deadlines);
	if (r < 0)
		return r;
	forecast_set_deadlines(&w);
	r = forecast_followers_init(&w.followers, &w.graph, w.deadlines);
	if (r < 0)
		return r;
	forecast_find_all(&w);
	/* Marks the rows backwards from the end, along the vertices that took longest. */
	while (vertex != NO_VERTEX) {
		const struct moment *m = &w.moments[vertex];

		if (m->final != NO_ROW)
			w.rows[m->final].critical = true;
		if (m->row != NO_ROW)
			w.rows[m->row].critical = true;
		vertex = m->because;
	}
	for (enum forecast_case c = 0; c < N_FORECASTS; c++)
		f->end_usec[c] = w.moments[forecast_vertex(top, FORECAST_END)].usec[c];
	qsort(w.rows, w.n_rows, sizeof(*w.rows), forecast_compare_rows);
	f->n_rows = w.n_rows;
	f->rows = take(w.rows);
	r = forecast_store_waits(f, &w.graph);
	if (r < 0)
		return r;
	*ret = take(f);
	return 0;
}

struct forecast *forecast_free(struct forecast *f)
{
	if (!f)
		return NULL;
	free(f->rows);
	free(f->waits);
	return free_memory(f);
}
