#include "model/forecast-followers.h"

#include <errno.h>
#include <stdlib.h>

#include "model/budget.h"

void forecast_followers_done(struct forecast_followers *f)
{
	free(f->all);
	free(f->n);
}

static int compare(const void *a, const void *b)
{
	const struct forecast_follower *x = a, *y = b;

	if (x->kill_usec != y->kill_usec)
		return x->kill_usec < y->kill_usec ? -1 : 1;
	return (x->timeout_usec < y->timeout_usec) - (x->timeout_usec > y->timeout_usec);
}

/* Those of one node; of the earliest the longest, and of the later ones who has still longer. */
static size_t gather(const struct forecast_graph *g, size_t node, const uint64_t *kill_usec,
		     struct forecast_follower *to)
{
	size_t n = 0, kept = 0;

	for (size_t e = g->blocked.first[node]; e < g->blocked.first[node + 1]; e++) {
		size_t after = g->blocked.edges[e].after;

		if (g->stopped[after])
			to[n++] = (struct forecast_follower){
				.timeout_usec = g->tree->nodes[after].config->stop_timeout_usec,
				.kill_usec = kill_usec[after],
			};
	}
	qsort(to, n, sizeof(*to), compare);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || to[i].timeout_usec > to[kept - 1].timeout_usec)
			to[kept++] = to[i];
	return kept;
}

int forecast_followers_init(struct forecast_followers *followers,
			    const struct forecast_graph *graph, const uint64_t *kill_usec)
{
	const struct forecast_tree *tree = graph->tree;
	struct forecast_followers f = {
		.graph = graph,
		.all = calloc(tree->n_edges + 1, sizeof(*f.all)),
		.n = calloc(tree->n_nodes, sizeof(*f.n)),
	};

	if (!f.all || !f.n) {
		forecast_followers_done(&f);
		return -ENOMEM;
	}
	for (size_t i = 0; i < tree->n_nodes; i++)
		f.n[i] = gather(graph, i, kill_usec, f.all + graph->blocked.first[i]);
	*followers = f;
	return 0;
}

uint64_t forecast_followers_timeout(const struct forecast_followers *f, size_t node,
				    uint64_t kill_usec)
{
	const struct forecast_graph *g = f->graph;
	uint64_t longest = 0;

	for (size_t at = node; at != FORECAST_NOBODY; at = g->tree->nodes[at].parent) {
		const struct forecast_follower *of = f->all + g->blocked.first[at];

		for (size_t i = 0; i < f->n[at]; i++) {
			uint64_t needed =
				budget_needed(of[i].timeout_usec, kill_usec, of[i].kill_usec);

			longest = needed > longest ? needed : longest;
		}
	}
	return longest;
}
