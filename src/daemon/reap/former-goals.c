/*
 * A row of the roster has the goal of a node, and the times of its stop.  The requests that have led to it are made
 * again, with the time that was left.
 */
#include "daemon/reap/former-goals.h"

#include "daemon/service/signal.h"
#include "daemon/tree/deadline.h"
#include "daemon/tree/goals.h"

/* Restores that a stop was forced, and the times of one that an operator has prolonged or put on hold. */
static void former_goals_take_stop(struct node *node, const struct roster_row *row)
{
	/* A fault between the goal and its stop has left a row without times. */
	if (!row->detail[1])
		return;
	node->forced |= row->detail[5];
	if (!node->parent && row->detail[4])
		node->ctx->bound_usec = row->detail[4];
	if (row->detail[2] > node->deadline_usec)
		(void)deadline_extend(node, row->detail[2] - node->deadline_usec);
	if (!node->parent && row->detail[3])
		(void)deadline_hold(node, row->detail[3]);
}

/* A stop goes on with the time that it had left. */
static void former_goals_take_row(struct tree *tree, struct node *node,
				  const struct roster_row *row)
{
	/* A predecessor keeps the goal of its hand-over until it is stopped. */
	int number = row->number == GOAL_HANDOVER && node_is_aside(node) ? GOAL_GONE : row->number;
	struct goals g;

	goals_begin(&g, tree, (enum goal_cause)MIN(row->detail[0], (uint64_t)N_CAUSES - 1));
	/* The client that has stopped it for the sleep of the host asks once more. */
	if (number == GOAL_UP || (number == GOAL_DOWN && g.cause == CAUSE_SLEEP)) {
		goals_raise(node, REQUEST_NEED, g.cause);
	} else if (number == GOAL_IDLE && node->service) {
		goals_make_idle(node);
	} else if (number == GOAL_HANDOVER) {
		goals_raise(node, REQUEST_NEED, g.cause);
		goals_lower(&g, node, REQUEST_RESTART, "it was under way before");
	} else if (number >= GOAL_GONE && number <= GOAL_CYCLE) {
		enum goal_request request = number == GOAL_GONE	  ? REQUEST_REMOVE
					    : number == GOAL_DOWN ? REQUEST_STOP
								  : REQUEST_CYCLE;

		if (row->detail[1] > 0 && row->detail[1] < g.usec)
			g.usec = row->detail[1];
		g.until_usec = row->detail[2];
		goals_lower(&g, node, request, "it was stopped before");
		former_goals_take_stop(node, row);
		node_update_roster(node);
		goals_commit(&g);
	}
}

void former_goals_take(struct tree *tree)
{
	const struct roster_row *row;
	struct node *node;

	tree_for_each_row (node, row, tree, ROSTER_GOAL)
		former_goals_take_row(tree, node, row);
	tree_for_each_row (node, row, tree, ROSTER_FINAL)
		final_take_former(node, row);
	/* A service with a stop-command that was begun, or with its signal, ends, also if it is to start again. */
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		const struct service *s = n->service;
		struct goals g;

		/* A successor that was not ready starts once more. */
		if (!s || node_is_stopped(n) || !(service_was_asked(s) || node_is_aside(n)))
			continue;
		goals_begin(&g, tree, n->cause);
		if (service_was_asked(s))
			g.usec = MIN(g.usec, s->ending.began_usec);
		goals_lower(&g, n, node_is_aside(n) ? REQUEST_REMOVE : REQUEST_CYCLE,
			    "it was stopped before");
		goals_commit(&g);
	}
}
