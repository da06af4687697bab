/*
 * A goal decides on the generation of a node, and the generation on the service: a run of a stopped
 * generation is ended, and a service that is down starts once its node runs.  A service stays on
 * the list of a task until the task has no more work with it.
 */
#include "daemon/tree/converge.h"

#include "daemon/node/stop-order.h"
#include "daemon/service/machine.h"
#include "daemon/service/timeout.h"
#include "daemon/spawn/starts.h"
#include "daemon/tree/goals.h"
#include "daemon/tree/start-order.h"

/* --- stops --- */

/*
 * A service that has stopped its group by its failure stays failed until it or the whole tree is
 * stopped.
 */
static bool converge_has_failed_its_group(const struct service *s)
{
	const struct node *n = s->node;

	if (s->state != STATE_FAILED || !node_is_stopped(n) || node_is_tree_stopped(n))
		return false;
	while (n && n->goal != GOAL_DOWN)
		n = n->parent;
	return n && n->cause == CAUSE_FAILURE;
}

void converge_stop(struct tree *tree, struct node *node)
{
	struct service *s = node->service;
	enum service_event event;

	if (converge_has_failed_its_group(s)) {
		node_end_task(s->node, TASK_STOPS);
		return;
	}
	while ((event = goal_event(s->state, service_is_stopped(s), false)) != N_EVENTS) {
		/* Before a fault the signal was already allowed. */
		if (s->main.alive && service_was_asked(s))
			event = event == EVENT_HOLD ? EVENT_RELEASE : event;
		else if (event == EVENT_RELEASE &&
			 (s->ctx->held_usec || stop_order_blocker(s->node)))
			return;
		service_handle(s, event);
	}
	node_end_task(s->node, TASK_STOPS);
	if (!service_is_stopped(s))
		service_update_soon(s);
}

/* --- generations --- */

/*
 * Parents come first: a generation cannot begin below a stopped one.  Returns true if an idle service is
 * there again, which others may need that have started meanwhile.
 */
static bool converge_renew(struct tree *tree, struct node *top)
{
	bool idle = false;

	for (struct node *n = top; n; n = node_next(n, top)) {
		int r = 0;

		if (node_goal(n) < GOAL_IDLE || (n->parent && node_is_stopped(n->parent)))
			continue;
		if (node_is_stopped(n)) {
			lease_keep_budget(n);
			if (n->service)
				service_keep_budget(n->service);
			final_record(n);
			r = node_renew(n);
		}
		if (r < 0) {
			/* A node without memory for its next generation stays stopped. */
			node_log(n, LOG_ERR, "cannot be started again: %s", strerror(-r));
			goals_lower_one(tree, n, CAUSE_FAILURE, REQUEST_STOP, strerror(-r));
		} else if (n->service) {
			node_end_task(n, TASK_STARTS); /* they start in the order of the tree */
			service_update_soon(n->service);
		}
		idle |= n->service && node_goal(n) == GOAL_IDLE;
	}
	return idle;
}

void converge_renewals(struct tree *tree)
{
	struct node *node;
	bool idle = false;

	/* A stopped parent is on the list as well, and its renewal includes this node. */
	node_for_each_taken (node, tree->ctx, TASK_RENEWALS)
		if (!node->parent || !node_is_stopped(node->parent))
			idle |= converge_renew(tree, node);
	if (idle)
		goals_need_all(tree);
}

/* --- starts --- */

/* The timer of the delay puts the service back on the list. */
static bool converge_is_early(struct service *s)
{
	uint64_t now = clock_now_usec();

	if (s->state == STATE_BACKOFF)
		return s->timeout_usec > now;
	if (s->not_before_usec <= now)
		return false;
	service_delay(s);
	return true;
}

/* Returns the event that starts @s, or N_EVENTS if it does not start now. */
static enum service_event converge_start_event(struct service *s)
{
	enum service_event event =
		goal_event(s->state, service_is_stopped(s), service_is_wanted(s));

	return (event == EVENT_START || event == EVENT_TIMEOUT) && !converge_is_early(s) ? event
											 : N_EVENTS;
}

/* A requirement that ended before @s began to wait starts again; one that ended later blocks @s. */
static void converge_reset_ended(struct node *required, const struct service *s)
{
	uint64_t since = s->state == STATE_BACKOFF ? s->timeout_usec : s->since_usec;

	since = MAX(since, s->node->since_usec);
	since = MAX(since, s->node->raised_usec);
	/* It already waited before a fault, and its requirements were started again then. */
	if (since <= s->ctx->resumed_usec)
		return;
	for (struct node *n = required; n; n = node_next(n, required)) {
		struct service *ended = n->service;

		if (!ended || ended->state != STATE_DONE || service_is_present(ended) ||
		    !service_is_wanted(ended) || !start_order_is_meant(n, required))
			continue;
		if (ended->since_usec <= since)
			service_handle(ended, EVENT_RESET);
	}
}

/* Returns true if the goal of a node that @s needs was raised. */
static bool converge_prepare_start(const struct service *s)
{
	bool risen = goals_need(s);

	for (const struct node *n = s->node; n; n = n->parent) {
		for (struct node *const *to = node_edges(n, EDGE_REQUIRES); to && *to; to++)
			if (!start_order_is_satisfied(*to))
				converge_reset_ended(*to, s);
	}
	return risen;
}

/*
 * First all needed nodes are put on the list, so that every start of this turn finds them there.  A raised node
 * may be before the one that needs it on the list, and may need others itself.
 */
static void converge_prepare_starts(struct tree *tree)
{
	struct node *node;
	bool risen;

	do {
		risen = false;
		node_for_each_due (node, tree->ctx, TASK_STARTS)
			if (converge_start_event(node->service) != N_EVENTS)
				risen |= converge_prepare_start(node->service);
	} while (risen);
}

static void converge_start(struct service *s)
{
	enum service_event event = converge_start_event(s);

	if (event == N_EVENTS) {
		node_end_task(s->node, TASK_STARTS);
		if (service_is_stopped(s))
			service_update_soon(s);
		return;
	}
	if (start_order_is_blocked(s) || start_order_pacer(s)) {
		bool before = s->blocked;

		s->blocked = start_order_has_lost_requirement(s);
		if (s->blocked == before)
			return;
		service_recount(s);
		context_update_soon(s->ctx); /* services that require it may be blocked as well */
		return;
	}
	node_end_task(s->node, TASK_STARTS);
	service_handle(s, event);
}

void converge_starts(struct tree *tree)
{
	struct context *ctx = tree->ctx;
	struct node *node;

	if (!starts_have_room(ctx->starts))
		return;
	converge_prepare_starts(tree);
	node_for_each_due (node, ctx, TASK_STARTS) {
		if (!starts_have_room(ctx->starts))
			return;
		converge_start(node->service);
	}
}

bool converge_is_starting(const struct tree *tree)
{
	for (const struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		const struct service *s = n->service;

		if (!s || s->attempted || !service_is_wanted(s) || node_is_aside(n))
			continue;
		if (fsm_is_coming_up(s->state) ||
		    (s->state == STATE_DOWN && !start_order_is_blocked(s)))
			return true;
	}
	return false;
}
