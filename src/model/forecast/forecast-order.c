/*
 * Each node stores only its own nodes before and after it; a query for a service walks the node and
 * its ancestors.
 */
#include "model/forecast/forecast-order.h"

#include "model/life/budget.h"

void forecast_waits_done(struct forecast_waits *w)
{
	free(w->before);
	free(w->first);
	free(w->number);
}

static int forecast_compare_nodes(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The nodes that a stopped @node itself comes after.  Returns their number. */
static size_t forecast_gather_before(const struct forecast_graph *g, size_t node, size_t *to)
{
	size_t n = 0, kept = 0;

	forecast_for_each (e, g->blockers, node)
		if (g->stopped[node] && g->stopped[g->tree->edges[e].before])
			to[n++] = g->tree->edges[e].before;
	qsort(to, n, sizeof(*to), forecast_compare_nodes);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || to[i] != to[kept - 1])
			to[kept++] = to[i];
	return kept;
}

/* Returns true if @from, or a node above it and below @until, comes after @before itself. */
static bool forecast_is_known(const struct forecast_waits *w, size_t from, size_t until,
			      size_t before)
{
	for (; from != until; from = w->graph->tree->nodes[from].parent)
		if (bsearch(&before, w->before + w->first[from],
			    w->first[from + 1] - w->first[from], sizeof(before),
			    forecast_compare_nodes))
			return true;
	return false;
}

int forecast_waits_init(struct forecast_waits *waits, const struct forecast_graph *graph)
{
	const struct forecast_tree *tree = graph->tree;
	struct forecast_waits w = {
		.graph = graph,
		.before = calloc(tree->n_edges + 1, sizeof(*w.before)),
		.first = calloc(tree->n_nodes + 1, sizeof(*w.first)),
		.number = calloc(tree->n_nodes, sizeof(*w.number)),
	};

	*waits = w;
	if (!w.before || !w.first || !w.number)
		return -ENOMEM;
	for (size_t i = 0; i < tree->n_nodes; i++) {
		size_t parent = tree->nodes[i].parent;

		w.first[i + 1] =
			w.first[i] + forecast_gather_before(graph, i, w.before + w.first[i]);
		w.number[i] = parent == FORECAST_NONE ? 0 : w.number[parent];
		for (size_t n = w.first[i]; n < w.first[i + 1]; n++)
			w.number[i] += !forecast_is_known(&w, parent, FORECAST_NONE, w.before[n]);
	}
	return 0;
}

size_t forecast_waits_get(const struct forecast_waits *w, size_t node,
			  const struct node_config **ret, size_t max)
{
	const struct forecast_node *nodes = w->graph->tree->nodes;
	size_t n = 0, number = MIN(max, w->number[node]);

	for (size_t at = node; n < number; at = nodes[at].parent) {
		for (size_t i = w->first[at]; n < number && i < w->first[at + 1]; i++)
			if (!forecast_is_known(w, node, at, w->before[i]))
				ret[n++] = nodes[w->before[i]].config;
	}
	return n;
}

/* --- time of services of a higher rank --- */

/* The latest times of the vertices that leave these services their time. */
struct latest {
	uint64_t gate_usec, end_usec;
};

/* Sets *rank to the next higher rank of a stopped node.  Returns false if that is the highest. */
static bool forecast_next_rank(const struct forecast_graph *g, int *rank)
{
	int next = INT_MAX, highest = INT_MIN;

	for (size_t i = 0; i < g->tree->n_nodes; i++) {
		int is = g->tree->nodes[i].config->stop_rank;

		if (g->stopped[i] && is > *rank)
			next = MIN(next, is);
		if (g->stopped[i])
			highest = MAX(highest, is);
	}
	*rank = next;
	return next < highest;
}

uint64_t forecast_kill_usec(const struct node_config *config)
{
	return node_config_extras(config)->kill_signal == SIGKILL ? BUDGET_KILL_AGAIN_USEC
								  : 2 * BUDGET_KILL_AGAIN_USEC;
}

uint64_t forecast_latest_gate(const struct node_config *config, int rank, uint64_t end_usec,
			      uint64_t kill_usec)
{
	bool is_higher = config->stop_rank > rank;
	bool has_post_stop = node_config_has_hook(config, HOOK_POST_STOP);
	uint64_t end = is_higher ? MIN(end_usec, kill_usec) : end_usec;
	uint64_t needed =
		clock_add(is_higher ? config->stop_timeout_usec : 0,
			  forecast_kill_usec(config) + (has_post_stop ? BUDGET_LAST_USEC : 0));

	if (end == USEC_INFINITY)
		return end;
	return end - MIN(needed, end);
}

static void forecast_find_latest(const struct forecast_graph *g, size_t node, int rank,
				 const struct forecast_deadline *deadlines, struct latest *all)
{
	const struct node_config *config = g->tree->nodes[node].config;
	struct latest *l = &all[node];

	l->gate_usec = l->end_usec;
	forecast_for_each (c, g->children, node)
		l->gate_usec = MIN(l->gate_usec, all[c].gate_usec);
	if (config->argv)
		l->gate_usec = MIN(l->gate_usec, forecast_latest_gate(config, rank, l->end_usec,
								      deadlines[node].kill_usec));
}

static void forecast_yield_to(const struct forecast_graph *g, int rank,
			      const struct forecast_deadline *deadlines, struct latest *all)
{
	for (size_t i = g->n_order; i-- > 0;) {
		size_t node = forecast_vertex_node(g->order[i]);
		size_t parent = g->tree->nodes[node].parent;

		if (forecast_vertex_side(g->order[i]) == FORECAST_GATE) {
			forecast_find_latest(g, node, rank, deadlines, all);
			continue;
		}
		all[node].end_usec = parent != FORECAST_NONE && g->stopped[parent]
					     ? all[parent].end_usec
					     : USEC_INFINITY;
		forecast_for_each (e, g->blocked, node)
			if (g->stopped[g->tree->edges[e].after])
				all[node].end_usec = MIN(all[node].end_usec,
							 all[g->tree->edges[e].after].gate_usec);
	}
}

int forecast_yield(const struct forecast_graph *g, struct forecast_deadline *deadlines)
{
	cleanup(freep) struct latest *all = NULL;
	int rank = INT_MIN;

	while (forecast_next_rank(g, &rank)) {
		if (!all)
			all = calloc(g->tree->n_nodes, sizeof(*all));
		if (!all)
			return -ENOMEM;
		forecast_yield_to(g, rank, deadlines, all);
		for (size_t i = 0; i < g->tree->n_nodes; i++)
			if (g->stopped[i] && g->tree->nodes[i].config->stop_rank == rank)
				deadlines[i].latest_usec = all[i].end_usec;
	}
	return 0;
}

/* --- the nodes after a node --- */

void forecast_followers_done(struct forecast_followers *f)
{
	free(f->all);
	free(f->first);
}

static int forecast_compare_followers(const void *a, const void *b)
{
	const struct forecast_follower *x = a, *y = b;

	if (x->kill_usec != y->kill_usec)
		return x->kill_usec < y->kill_usec ? -1 : 1;
	return (x->timeout_usec < y->timeout_usec) - (x->timeout_usec > y->timeout_usec);
}

/* The followers of a node: the longest of the earliest, and later ones with a longer timeout. */
static size_t forecast_gather_after(const struct forecast_graph *g, size_t node,
				    const struct forecast_deadline *deadlines,
				    struct forecast_follower *to)
{
	size_t n = 0, kept = 0;

	forecast_for_each (e, g->blocked, node) {
		size_t after = g->tree->edges[e].after;

		if (g->stopped[after])
			to[n++] = (struct forecast_follower){
				.timeout_usec = g->tree->nodes[after].config->stop_timeout_usec,
				.kill_usec = deadlines[after].kill_usec,
				.rank = g->tree->nodes[after].config->stop_rank,
			};
	}
	qsort(to, n, sizeof(*to), forecast_compare_followers);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || to[i].timeout_usec > to[kept - 1].timeout_usec ||
		    to[i].rank > to[kept - 1].rank)
			to[kept++] = to[i];
	return kept;
}

int forecast_followers_init(struct forecast_followers *followers,
			    const struct forecast_graph *graph,
			    const struct forecast_deadline *deadlines)
{
	const struct forecast_tree *tree = graph->tree;
	struct forecast_followers f = {
		.graph = graph,
		.all = calloc(tree->n_edges + 1, sizeof(*f.all)),
		.first = calloc(tree->n_nodes + 1, sizeof(*f.first)),
	};

	if (!f.all || !f.first) {
		forecast_followers_done(&f);
		return -ENOMEM;
	}
	for (size_t i = 0; i < tree->n_nodes; i++)
		f.first[i + 1] =
			f.first[i] + forecast_gather_after(graph, i, deadlines, f.all + f.first[i]);
	*followers = f;
	return 0;
}

uint64_t forecast_followers_timeout(const struct forecast_followers *f, size_t node,
				    uint64_t kill_usec)
{
	const struct forecast_graph *g = f->graph;
	uint64_t longest = 0;

	for (size_t at = node; at != FORECAST_NONE; at = g->tree->nodes[at].parent) {
		for (size_t i = f->first[at]; i < f->first[at + 1]; i++) {
			uint64_t needed = budget_needed(f->all[i].timeout_usec, kill_usec,
							f->all[i].kill_usec);

			if (f->all[i].rank >= g->tree->nodes[node].config->stop_rank)
				longest = needed > longest ? needed : longest;
		}
	}
	return longest;
}
