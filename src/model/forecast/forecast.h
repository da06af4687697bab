#pragma once

/*
 * A shutdown before it happens: who is asked to end in which order, what that waits for, and how
 * long it may take at worst.  All times are in microseconds from the stop; USEC_INFINITY: nothing
 * ends it.
 *
 * At worst nobody ends before he is killed.  What a service waits for, and what bounds each step:
 *
 *	drain-delay ─▶ its signal ─▶ stop-timeout ─▶ the kill ─▶ post-stop ─▶ the kill
 *	the end of whatever is to be Complete before ─▶ its signal
 *	the end of all below a node ─▶ its final, final-timeout ─▶ the kill ─▶ its end
 *
 * A kill is given a second, and one more if it is not SIGKILL: then that follows.  Budgets cut all
 * of it short as model/budget.h and the daemon have it; what is to run after a kill has two seconds
 * still, and five seconds after the budget of the root nothing is waited for any more.
 *
 * Every service counts as one that runs.
 */

#include "model/forecast/forecast-graph.h"

enum forecast_case {
	FORECAST_SOONEST, /* everybody ends as soon as he is asked */
	FORECAST_IDLE,	  /* nobody ends before he is killed, and no guards are held beside */
	FORECAST_BUSY,	  /* likewise, and guards are held as long as they may be */
	N_FORECASTS
};

enum forecast_kind { FORECAST_SERVICE, FORECAST_FINAL };

/* "service", "final" */
const char *forecast_kind_name(enum forecast_kind kind);

struct forecast_times {
	uint64_t begin_usec; /* it is signalled, or begun, no later */
	uint64_t end_usec;
	const struct node_config *budget; /* whose shutdown-timeout cuts it short, or NULL */
};

struct forecast_row {
	const struct node_config *node;
	size_t index; /* of the node in the tree */
	enum forecast_kind kind;
	unsigned step; /* from 1; who is in the same does not wait for one another */
	bool critical; /* the whole takes as long as it does because of it, when idle */
	struct forecast_times times[N_FORECASTS];
	/*
	 * FORECAST_SERVICE: the nodes that are to be Complete before, but for some if they are
	 * many.
	 */
	const struct node_config *const *waits;
	size_t n_waits, n_more;
};
#define FORECAST_WAITS_MAX 64

struct forecast {
	struct forecast_row *rows; /* in the order in which they are asked to end */
	size_t n_rows;
	uint64_t end_usec[N_FORECASTS]; /* of the whole */
	const struct node_config **waits;
};

/*
 * The shutdown of node @top of @tree and of all that is stopped with it.  The edges must be free of
 * circles, as graph_check() has it.  The configurations are borrowed.
 *
 * Return: 0 or -ENOMEM.
 */
int forecast_new(struct forecast **ret, const struct forecast_tree *tree, size_t top);
struct forecast *forecast_free(struct forecast *forecast);
DEFINE_CLEANUP(struct forecast *, forecast_free)
