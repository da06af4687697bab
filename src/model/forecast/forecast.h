#pragma once

/*
 * The forecast of a shutdown: the order in which services are signalled, the nodes that each waits
 * for, and the time at worst.  All times are in microseconds from the stop; USEC_INFINITY: no
 * limit.
 *
 * At worst every service ends only by its kill.  The steps of a service, and the limit of each:
 *
 *	drain-delay ─▶ its signal ─▶ stop-timeout ─▶ the kill ─▶ post-stop ─▶ the kill
 *	the end of each node that must be Complete before ─▶ its signal
 *	the end of all below a node ─▶ its final, final-timeout ─▶ the kill ─▶ its end
 *
 * A kill takes a second; a second more if kill-signal is not SIGKILL, which then follows.  Budgets
 * shorten all steps as in model/life/budget.h and the daemon; commands after a kill still have two
 * seconds, and five seconds after the budget of the root the daemon waits for nothing.
 *
 * Every service counts as running.
 */

#include "model/forecast/forecast-graph.h"

enum forecast_case {
	FORECAST_SOONEST, /* every service ends at its signal */
	FORECAST_IDLE,	  /* every service ends by its kill, and no other guard is held */
	FORECAST_BUSY,	  /* likewise, and guards are held as long as possible */
	N_FORECASTS
};

enum forecast_kind { FORECAST_SERVICE, FORECAST_FINAL };

struct forecast_times {
	uint64_t begin_usec; /* the latest time of the signal, or of the beginning */
	uint64_t end_usec;
	const struct node_config *budget; /* the node with the limiting budget, or NULL */
	bool yields;			  /* shortened for services of a higher stop-priority */
};

struct forecast_row {
	const struct node_config *node;
	const char *path;
	size_t index; /* of the node in the tree */
	enum forecast_kind kind;
	unsigned step; /* from 1; rows of the same step do not wait for each other */
	bool critical; /* on the critical path, when idle */
	struct forecast_times times[N_FORECASTS];
	/*
	 * FORECAST_SERVICE: the nodes that must be Complete before; of many, only the first ones.
	 */
	const struct node_config *const *waits;
	size_t n_waits, n_more;
};
#define FORECAST_WAITS_MAX 64

struct forecast {
	struct forecast_row *rows; /* in the order of the signals */
	size_t n_rows;
	uint64_t end_usec[N_FORECASTS]; /* of the whole */
	const struct node_config **waits;
};

/*
 * Computes the shutdown of node @top of @tree, and of all nodes stopped with it.  The edges must
 * have no cycle (graph_check()).  The configurations are borrowed.
 *
 * Return: 0 or -ENOMEM.
 */
int forecast_new(struct forecast **ret, const struct forecast_tree *tree, size_t top);
struct forecast *forecast_free(struct forecast *forecast);
DEFINE_CLEANUP(struct forecast *, forecast_free)
