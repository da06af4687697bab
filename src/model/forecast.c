#include "model/forecast.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macro.h"
#include "model/budget.h"
#include "model/forecast-graph.h"

/*
 * The vertices of the graph are gone through once, each after what it needs: when it comes about in
 * each case is the latest of those, and what its own node adds to that.
 */

#define NO_VERTEX SIZE_MAX
#define NO_ROW	  SIZE_MAX

/* When a vertex comes about. */
struct moment {
	uint64_t usec[N_FORECASTS];
	unsigned step;
	size_t because; /* of which vertex, when idle; NO_VERTEX: of nothing before */
	size_t row;	/* the end of a service: ... and its own; or NO_ROW */
	size_t final;	/* the end of a node: the row of its final, or NO_ROW */
};

/* Until when a node has to be Complete, and until when all in it but its own final. */
struct deadline {
	uint64_t usec, kill_usec;
	const struct node_config *of; /* whose budget that is, or NULL */
};

struct placed {
	struct forecast_row row;
	size_t node;
};

struct work {
	struct forecast_graph graph;
	struct moment *moments;	    /* of each vertex */
	struct deadline *deadlines; /* of each node */
	struct placed *rows;
	size_t n_rows;
	uint64_t abandon_usec;
};

static void work_done(struct work *w)
{
	forecast_graph_done(&w->graph);
	free(w->moments);
	free(w->deadlines);
	free(w->rows);
}

/* That of the root is no more than what whoever supervises us leaves. */
static uint64_t budget_of(const struct forecast_tree *tree, const struct forecast_node *node)
{
	uint64_t granted =
		node->parent == FORECAST_NOBODY ? budget_of_grace(tree->grace_usec) : USEC_INFINITY;

	return MIN(node->config->shutdown_timeout_usec, granted);
}

static struct deadline find_deadline(const struct work *w, const struct forecast_node *node)
{
	const struct node_config *config = node->config;
	uint64_t budget = budget_of(w->graph.tree, node);
	uint64_t final = node_config_hook(config, HOOK_FINAL)->n
				 ? node_config_extras(config)->final_timeout_usec
				 : 0;
	struct deadline d = { .usec = USEC_INFINITY };

	if (node->parent != FORECAST_NOBODY) {
		d.usec = w->deadlines[node->parent].kill_usec;
		d.of = w->deadlines[node->parent].of;
	}
	if (budget < d.usec) {
		d.usec = budget;
		d.of = config;
	}
	d.kill_usec = budget_before(d.usec, 0, final);
	return d;
}

static void set_deadlines(struct work *w)
{
	const struct forecast_tree *tree = w->graph.tree;

	w->abandon_usec = USEC_INFINITY;
	for (size_t i = 0; i < tree->n_nodes; i++) {
		struct deadline *d = &w->deadlines[i];

		*d = (struct deadline){ .usec = USEC_INFINITY, .kill_usec = USEC_INFINITY };
		if (!w->graph.stopped[i])
			continue;
		*d = find_deadline(w, &tree->nodes[i]);
		if (tree->nodes[i].parent == FORECAST_NOBODY)
			w->abandon_usec = clock_add(d->usec, BUDGET_ABANDON_USEC);
	}
}

/* --- what one node adds: daemon/service-timeout.c and final.c, all at the latest --- */

static uint64_t kill_usec(const struct node_config *config)
{
	return node_config_extras(config)->kill_signal == SIGKILL ? BUDGET_KILL_AGAIN_USEC
								  : 2 * BUDGET_KILL_AGAIN_USEC;
}

/* The longest that whoever is signalled after the service is to have. */
static uint64_t followers_timeout(const struct work *w, size_t service)
{
	const struct forecast_graph *g = &w->graph;
	uint64_t longest = 0;

	for (size_t n = service; n != FORECAST_NOBODY; n = g->tree->nodes[n].parent) {
		for (size_t e = g->blocked.first[n]; e < g->blocked.first[n + 1]; e++) {
			size_t after = g->blocked.edges[e].after;
			uint64_t needed = budget_needed(
				g->tree->nodes[after].config->stop_timeout_usec,
				w->deadlines[service].kill_usec, w->deadlines[after].kill_usec);

			if (g->stopped[after] && needed > longest)
				longest = needed;
		}
	}
	return longest;
}

/* A service, and what is to be known of it in each case. */
struct ending {
	const struct node_config *config;
	const struct deadline *deadline;
	uint64_t followers_usec;
	bool has_post_stop;
};

static uint64_t gone_by(const struct ending *e, uint64_t now)
{
	return budget_before(e->deadline->kill_usec, now, e->followers_usec);
}

static uint64_t last_call(const struct ending *e, uint64_t now)
{
	uint64_t end = gone_by(e, now);

	return e->has_post_stop ? budget_before(end, now, BUDGET_LAST_USEC) : end;
}

/* The delay runs from the stop, and leaves the time for a stop. */
static uint64_t drained_at(const struct ending *e)
{
	return MIN(node_config_extras(e->config)->drain_delay_usec,
		   budget_before(last_call(e, 0), 0, e->config->stop_timeout_usec));
}

/*
 * Busy at worst: somebody holds a guard until drain-timeout is over, and only then it begins to end;
 * or it says again and again that it needs more time.
 */
static uint64_t asked_for(const struct ending *e, enum forecast_case c)
{
	if (c != FORECAST_BUSY)
		return e->config->stop_timeout_usec;
	if (e->config->notify)
		return USEC_INFINITY;
	return clock_add(e->config->stop_timeout_usec, e->config->drain_timeout_usec);
}

static uint64_t after_post_stop(const struct ending *e, uint64_t begin)
{
	uint64_t least = clock_add(begin, BUDGET_LAST_USEC), by = gone_by(e, begin);
	uint64_t end = MIN(clock_add(begin, e->config->stop_timeout_usec), by > least ? by : least);

	return clock_add(end, kill_usec(e->config));
}

static void time_service(const struct ending *e, enum forecast_case c, uint64_t gate,
			 struct forecast_times *t)
{
	uint64_t drained = drained_at(e);
	uint64_t begin = gate > drained ? gate : drained;
	uint64_t wanted = clock_add(begin, asked_for(e, c));
	uint64_t allowed = MIN(last_call(e, begin), e->deadline->kill_usec);

	t->begin_usec = MIN(begin, e->deadline->kill_usec);
	t->end_usec = clock_add(MIN(wanted, allowed), kill_usec(e->config));
	if (e->has_post_stop)
		t->end_usec = after_post_stop(e, t->end_usec);
	t->budget = wanted > allowed || drained < node_config_extras(e->config)->drain_delay_usec
			    ? e->deadline->of
			    : NULL;
}

static void time_final(const struct node_config *config, const struct deadline *deadline,
		       uint64_t begin, struct forecast_times *t)
{
	uint64_t wanted = clock_add(begin, node_config_extras(config)->final_timeout_usec);
	uint64_t least = clock_add(begin, BUDGET_LAST_USEC);
	uint64_t allowed = deadline->usec > least ? deadline->usec : least;

	t->begin_usec = begin;
	t->end_usec = clock_add(MIN(wanted, allowed), BUDGET_KILL_AGAIN_USEC);
	t->budget = wanted > allowed ? deadline->of : NULL;
}

/* Nobody waits for it any more. */
static uint64_t before_abandoned(const struct work *w, uint64_t usec)
{
	return MIN(usec, w->abandon_usec);
}

static struct forecast_row *add_row(struct work *w, size_t node, enum forecast_kind kind,
				    unsigned step)
{
	struct placed *placed = &w->rows[w->n_rows];

	*placed = (struct placed){
		.row = { .node = w->graph.tree->nodes[node].config, .kind = kind, .step = step },
		.node = node,
	};
	w->n_rows++;
	return &placed->row;
}

static void add_service(struct work *w, size_t node, const struct moment *gate, struct moment *end)
{
	struct forecast_row *row = add_row(w, node, FORECAST_SERVICE, gate->step);
	struct ending ending = {
		.config = row->node,
		.deadline = &w->deadlines[node],
		.followers_usec = followers_timeout(w, node),
		.has_post_stop = node_config_hook(row->node, HOOK_POST_STOP)->n > 0,
	};

	for (enum forecast_case c = 0; c < N_FORECASTS; c++) {
		struct forecast_times *t = &row->times[c];

		time_service(&ending, c, gate->usec[c], t);
		if (c == FORECAST_SOONEST)
			t->end_usec = t->begin_usec;
		t->end_usec = before_abandoned(w, t->end_usec);
		end->usec[c] = t->end_usec;
	}
	end->row = w->n_rows - 1;
	if (row->times[FORECAST_IDLE].begin_usec <= gate->usec[FORECAST_IDLE])
		end->because = forecast_vertex(node, FORECAST_GATE);
}

static void add_final(struct work *w, size_t node, struct moment *end)
{
	struct forecast_row *row = add_row(w, node, FORECAST_FINAL, ++end->step);

	for (enum forecast_case c = 0; c < N_FORECASTS; c++) {
		struct forecast_times *t = &row->times[c];

		time_final(row->node, &w->deadlines[node], end->usec[c], t);
		if (c == FORECAST_SOONEST)
			t->end_usec = t->begin_usec;
		t->end_usec = before_abandoned(w, t->end_usec);
		end->usec[c] = t->end_usec;
	}
	end->final = w->n_rows - 1;
}

/* --- the vertices --- */

/* @m is not before vertex @needed, and @steps after it. */
static void follow(struct work *w, struct moment *m, size_t needed, unsigned steps)
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

static void find_gate(struct work *w, size_t node, struct moment *m)
{
	const struct forecast_graph *g = &w->graph;
	size_t parent = g->tree->nodes[node].parent;

	m->step = 1;
	if (parent != FORECAST_NOBODY && g->stopped[parent])
		follow(w, m, forecast_vertex(parent, FORECAST_GATE), 0);
	for (size_t e = g->blockers.first[node]; e < g->blockers.first[node + 1]; e++)
		if (g->stopped[g->blockers.edges[e].before])
			follow(w, m, forecast_vertex(g->blockers.edges[e].before, FORECAST_END), 1);
}

/* Guards that are taken on the node itself are revoked when its budget is spent. */
static void hold_guards(const struct work *w, size_t node, struct moment *m)
{
	uint64_t held = before_abandoned(w, w->deadlines[node].kill_usec);

	if (held > m->usec[FORECAST_BUSY])
		m->usec[FORECAST_BUSY] = held;
}

static void find_end(struct work *w, size_t node, struct moment *m)
{
	const struct forecast_graph *g = &w->graph;
	const struct node_config *config = g->tree->nodes[node].config;
	size_t gate = forecast_vertex(node, FORECAST_GATE);

	m->step = w->moments[gate].step;
	if (config->argv)
		add_service(w, node, &w->moments[gate], m);
	for (size_t c = g->first_child[node]; c != FORECAST_NOBODY; c = g->next_sibling[c])
		follow(w, m, forecast_vertex(c, FORECAST_END), 0);
	hold_guards(w, node, m);
	if (node_config_hook(config, HOOK_FINAL)->n > 0)
		add_final(w, node, m);
}

static void find_all(struct work *w)
{
	for (size_t i = 0; i < w->graph.n_order; i++) {
		size_t vertex = w->graph.order[i], node = forecast_vertex_node(vertex);
		struct moment *m = &w->moments[vertex];

		m->because = NO_VERTEX;
		m->row = m->final = NO_ROW;
		if (forecast_vertex_side(vertex) == FORECAST_GATE)
			find_gate(w, node, m);
		else
			find_end(w, node, m);
	}
}

/* Backwards from the end, along what took longest. */
static void mark_critical(struct work *w, size_t top)
{
	size_t vertex = forecast_vertex(top, FORECAST_END);

	while (vertex != NO_VERTEX) {
		const struct moment *m = &w->moments[vertex];

		if (m->final != NO_ROW)
			w->rows[m->final].row.critical = true;
		if (m->row != NO_ROW)
			w->rows[m->row].row.critical = true;
		vertex = m->because;
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	uint64_t x_usec = x->row.times[FORECAST_SOONEST].begin_usec;
	uint64_t y_usec = y->row.times[FORECAST_SOONEST].begin_usec;

	if (x->row.step != y->row.step)
		return x->row.step < y->row.step ? -1 : 1;
	if (x_usec != y_usec)
		return x_usec < y_usec ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

/* --- the result --- */

/* What keeps back the signals in a node: they are gathered in one array for all rows. */
struct waits {
	const struct node_config **all;
	size_t n, size;
};

static bool is_among(const struct waits *waits, size_t first, const struct node_config *config)
{
	for (size_t i = first; i < waits->n; i++)
		if (waits->all[i] == config)
			return true;
	return false;
}

static int make_room(struct waits *waits)
{
	size_t size = waits->size ? 2 * waits->size : 16;
	const struct node_config **all;

	if (waits->n < waits->size)
		return 0;
	all = reallocarray(waits->all, size, sizeof(*all));
	if (!all)
		return -ENOMEM;
	waits->all = all;
	waits->size = size;
	return 0;
}

static int add_waits(struct waits *waits, const struct forecast_graph *g, size_t node,
		     struct forecast_row *row)
{
	size_t first = waits->n;

	for (; node != FORECAST_NOBODY && g->stopped[node]; node = g->tree->nodes[node].parent) {
		for (size_t e = g->blockers.first[node]; e < g->blockers.first[node + 1]; e++) {
			size_t before = g->blockers.edges[e].before;
			const struct node_config *config = g->tree->nodes[before].config;

			if (!g->stopped[before] || is_among(waits, first, config))
				continue;
			if (waits->n - first == FORECAST_WAITS_MAX) {
				row->n_more++;
				continue;
			}
			if (make_room(waits) < 0)
				return -ENOMEM;
			waits->all[waits->n++] = config;
		}
	}
	row->n_waits = waits->n - first;
	return 0;
}

static int take_rows(struct forecast *f, struct work *w)
{
	struct waits waits = { 0 };
	size_t first = 0;
	int r = 0;

	f->rows = calloc(w->n_rows + 1, sizeof(*f->rows));
	if (!f->rows)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < w->n_rows; i++) {
		f->rows[i] = w->rows[i].row;
		if (f->rows[i].kind == FORECAST_SERVICE)
			r = add_waits(&waits, &w->graph, w->rows[i].node, &f->rows[i]);
	}
	f->n_rows = w->n_rows;
	f->waits = waits.all;
	for (size_t i = 0; r == 0 && i < f->n_rows; i++) {
		f->rows[i].waits = f->waits + first;
		first += f->rows[i].n_waits;
	}
	return r;
}

static int alloc(struct work *w)
{
	size_t n = w->graph.tree->n_nodes;

	w->moments = calloc(2 * n, sizeof(*w->moments));
	w->deadlines = calloc(n, sizeof(*w->deadlines));
	w->rows = calloc(2 * n, sizeof(*w->rows));
	return w->moments && w->deadlines && w->rows ? 0 : -ENOMEM;
}

int forecast_new(struct forecast **ret, const struct forecast_tree *tree, size_t top)
{
	cleanup(work_done) struct work w = { .rows = NULL };
	cleanup(forecast_freep) struct forecast *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	r = forecast_graph_init(&w.graph, tree, top);
	if (r == 0)
		r = alloc(&w);
	if (r < 0)
		return r;
	set_deadlines(&w);
	find_all(&w);
	mark_critical(&w, top);
	for (enum forecast_case c = 0; c < N_FORECASTS; c++)
		f->end_usec[c] = w.moments[forecast_vertex(top, FORECAST_END)].usec[c];
	qsort(w.rows, w.n_rows, sizeof(*w.rows), compare_rows);
	r = take_rows(f, &w);
	if (r < 0)
		return r;
	*ret = take(f);
	return 0;
}

const char *forecast_kind_name(enum forecast_kind kind)
{
	return kind == FORECAST_FINAL ? "final" : "service";
}

struct forecast *forecast_free(struct forecast *f)
{
	if (!f)
		return NULL;
	free(f->rows);
	free(f->waits);
	free(f);
	return NULL;
}
