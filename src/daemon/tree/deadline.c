/*
 * A node has its own budget, but no more time than its parent leaves it, which reserves the time of
 * its own final action.  So there are three times: the last call (call_usec), which revokes guards
 * for which the stop signals of other services wait; the kill phase (kill_usec), which forces all
 * that remains except the final action; and the end of the final action (deadline_usec).
 *
 * A node has a timer only if it ends before its parent does.
 */
#include "daemon/tree/deadline.h"

#include "daemon/node/stop-order.h"
#include "daemon/service/machine.h"
#include "daemon/service/timeout.h"
#include "model/forecast/forecast-order.h"
#include "model/life/budget.h"

static void deadline_revoke_leases(struct node *node)
{
	while (!list_is_empty(&node->leases)) {
		node_note_forced(node);
		lease_revoke(list_entry(node->leases.next, struct lease, of_node), "");
	}
}

/* The time of the root is limited by the parent manager, too. */
static uint64_t deadline_granted_usec(const struct node *node)
{
	return node->parent ? USEC_INFINITY : budget_of_grace(node->ctx->grace_usec);
}

static uint64_t deadline_budget_of(const struct node *node, const struct node_config *config)
{
	return MIN(config->shutdown_timeout_usec, deadline_granted_usec(node));
}

void deadline_log_limit(const struct node *root)
{
	char grace[CLOCK_TEXT_MAX], timeout[CLOCK_TEXT_MAX], left[CLOCK_TEXT_MAX];
	uint64_t usec = root->config->shutdown_timeout_usec;

	if (deadline_granted_usec(root) >= usec)
		return;
	log_line(
		root->ctx->log, LOG_NOTICE,
		"shutdown limited to %s: the grace of %s less a margin is below the shutdown-timeout of %s",
		clock_text(left, deadline_granted_usec(root)),
		clock_text(grace, root->ctx->grace_usec), clock_text(timeout, usec));
}

/*
 * Revokes leases early, so that the services that wait for them get their stop signal before the
 * kill phase.
 */
static void deadline_last_call(struct node *node)
{
	uint64_t now = clock_now_usec();

	node->call_usec = USEC_INFINITY;
	alarm_set(&node->ctx->alarms, &node->budget, node->kill_usec);
	for (struct node *n = node; n; n = node_next(n, node)) {
		if (n->draining == 0 || stop_order_followers_timeout(n) == 0)
			continue;
		if (!stop_order_blocker(n))
			deadline_revoke_leases(n);
		deadline_begin_last_call(n, now);
	}
}

/* --- more time --- */

/* Returns the latest end of the budget of the root. */
static uint64_t deadline_bound(const struct node *root)
{
	return MIN(root->ctx->bound_usec,
		   root->ctx->parent_waits
			   ? USEC_INFINITY
			   : clock_add(root->stop_usec, deadline_granted_usec(root)));
}

static uint64_t deadline_room(const struct node *top)
{
	uint64_t bound = !top->parent			? deadline_bound(top)
			 : node_is_stopped(top->parent) ? top->parent->kill_usec
							: USEC_INFINITY;

	return bound == USEC_INFINITY ? bound : bound - MIN(bound, top->deadline_usec);
}

static void deadline_shift(struct node *top, uint64_t usec, uint64_t since_usec)
{
	for (struct node *n = top; n; n = node_next(n, top)) {
		if (!n->stop_usec || n->complete || n->kill_usec <= since_usec)
			continue;
		n->deadline_usec = clock_add(n->deadline_usec, usec);
		n->kill_usec = clock_add(n->kill_usec, usec);
		n->call_usec = clock_add(n->call_usec, usec);
		n->latest.usec = clock_add(n->latest.usec, usec);
		if (!n->parent || n->kill_usec < n->parent->kill_usec)
			alarm_set(&n->ctx->alarms, &n->budget, MIN(n->call_usec, n->kill_usec));
	}
	for (struct node *n = top; n; n = node_next(n, top)) {
		final_extend(n, usec);
		if (n->service && n->stop_usec) {
			service_postpone(n->service, usec);
			service_postpone_kept(n->service, usec);
		}
	}
	top->ctx->changes++;
	context_update_soon(top->ctx);
}

static uint64_t deadline_hold_end(const struct node *root)
{
	return clock_add(root->ctx->held_usec, deadline_room(root));
}

uint64_t deadline_extend(struct node *top, uint64_t usec)
{
	uint64_t added = MIN(usec, deadline_room(top)), since = top->ctx->held_usec;
	char text[CLOCK_TEXT_MAX];

	if (added == 0)
		return 0;
	node_log(top, LOG_NOTICE, "%s more for the shutdown: by request", clock_text(text, added));
	deadline_shift(top, added, since ? since : clock_now_usec());
	if (since && !top->parent)
		(void)deadline_hold(top, since);
	return added;
}

bool deadline_hold(struct node *root, uint64_t since_usec)
{
	struct context *ctx = root->ctx;
	uint64_t before = ctx->held_usec;

	ctx->held_usec = since_usec;
	if (deadline_hold_end(root) <= clock_now_usec()) {
		ctx->held_usec = before;
		return false;
	}
	alarm_set(&ctx->alarms, &root->budget, deadline_hold_end(root));
	if (!before)
		node_log(root, LOG_NOTICE, "the shutdown is on hold: by request");
	ctx->changes++;
	context_update_soon(ctx);
	return true;
}

void deadline_release(struct node *root, const char *reason)
{
	struct context *ctx = root->ctx;
	uint64_t since = ctx->held_usec, held = clock_now_usec() - since;
	char text[CLOCK_TEXT_MAX];

	if (!since)
		return;
	ctx->held_usec = 0;
	node_log(root, LOG_NOTICE, "the shutdown goes on after %s: %s", clock_text(text, held),
		 reason);
	deadline_shift(root, MIN(held, deadline_room(root)), since);
}

bool deadline_is_extended(const struct node *root)
{
	return root->ctx->held_usec ||
	       root->deadline_usec >
		       clock_add(root->stop_usec, deadline_budget_of(root, root->config));
}

void deadline_force_soon(struct node *node)
{
	uint64_t now = clock_now_usec();

	if (!node->stop_usec)
		return;
	if (!node->parent)
		deadline_release(node, "a kill is requested");
	node->deadline_usec = MIN(node->deadline_usec, now);
	node->kill_usec = MIN(node->kill_usec, now);
	node->force_asked = true;
	node_add_task(node, TASK_DEADLINES);
}

void deadline_process(struct node *node)
{
	bool asked = node->force_asked;
	uint64_t now;

	node->force_asked = false;
	/* Only the final action remains, which has a limit of its own. */
	if (!node->stop_usec || (final_has_begun(node) && !asked))
		return;
	if (node->ctx->held_usec && !asked) {
		if (!node->parent && deadline_hold_end(node) <= clock_now_usec())
			deadline_release(node, "the parent manager gives no more time");
		return;
	}
	if (node->call_usec < node->kill_usec && clock_now_usec() < node->kill_usec) {
		deadline_last_call(node);
		return;
	}
	if (!asked) {
		uint64_t usec = node->config->shutdown_timeout_usec;
		bool by_grace = deadline_granted_usec(node) < usec;
		const char *but = final_is_pending(node) ? "; the final action has time left" : "";
		char budget[CLOCK_TEXT_MAX];

		if (node->deadline_usec == node->latest.usec)
			node_log(node, LOG_WARNING,
				 "ended early: services of a higher stop-priority need the time%s",
				 but);
		else if (node->deadline_usec <
			 clock_add(node->stop_usec, deadline_budget_of(node, node->config)))
			node_log(node, LOG_WARNING,
				 node->parent && node->deadline_usec >= node->parent->kill_usec
					 ? "the budget of an ancestor has expired%s"
					 : "the grace of a request less a margin has expired%s",
				 but);
		else
			node_log(node, LOG_WARNING, "the %s of %s%s has expired%s",
				 by_grace ? "grace" : "shutdown-timeout",
				 clock_text(budget, by_grace ? node->ctx->grace_usec : usec),
				 by_grace ? " less a margin" : "", but);
	}
	/* Ends all of @node but its final action, which may last until the deadline. */
	now = clock_now_usec();
	for (struct node *n = node; n; n = node_next(n, node)) {
		n->kill_usec = MIN(n->kill_usec, now);
		if (n != node)
			n->deadline_usec = MIN(n->deadline_usec, now);
		alarm_stop(&n->ctx->alarms, &n->budget);
		if (n->service && n->service->state != STATE_KILLING)
			service_handle(n->service, EVENT_KILL);
		if (n->service) {
			service_end_kept(n->service);
			capture_release(n->service->setup.launch.capture);
		}
		deadline_revoke_leases(n);
		alert_force(n);
		final_limit(n, 0);
	}
	context_update_soon(node->ctx);
}

/* A node with the budget of its parent is forced when the parent is. */
static bool deadline_has_own_end(const struct node *node)
{
	return !node->parent || node->kill_usec < node->parent->kill_usec;
}

void deadline_begin(struct node *node, uint64_t now)
{
	uint64_t own = clock_add(node->stop_usec, deadline_budget_of(node, node->config));
	uint64_t before = node->kill_usec;
	uint64_t wanted =
		final_is_pending(node) ? node_config_extras(node->config)->final_timeout_usec : 0;

	if (node->stop_usec == now)
		node->deadline_usec = MIN(node->deadline_usec, own);
	if (node->parent)
		node->deadline_usec = MIN(node->deadline_usec, node->parent->kill_usec);
	node->kill_usec = MIN(before, budget_before(node->deadline_usec, now, wanted));
	if (node->kill_usec < before)
		node->call_usec = USEC_INFINITY;
	if (node->kill_usec < before && deadline_has_own_end(node))
		alarm_set(&node->ctx->alarms, &node->budget, node->kill_usec);
}

void deadline_begin_last_call(struct node *node, uint64_t now)
{
	uint64_t timeout = stop_order_followers_timeout(node), call;
	struct node *top = node;

	if (timeout == 0)
		return;
	while (!deadline_has_own_end(top) && top->parent)
		top = top->parent;
	call = budget_before(top->kill_usec, now, timeout);
	if (call >= top->call_usec || call >= top->kill_usec)
		return;
	top->call_usec = call;
	alarm_set(&top->ctx->alarms, &top->budget, call);
}

/* --- time of services of a higher rank --- */

/* Sets *rank to the next higher rank of a node that is not Complete.  Returns false if that is the highest. */
static bool deadline_next_rank(const struct node *root, int *rank)
{
	int next = INT_MAX, highest = INT_MIN;

	for (const struct node *n = root; n; n = node_next(n, root)) {
		int is = n->config->stop_rank;

		if (!n->stop_usec || n->complete)
			continue;
		if (is > *rank)
			next = MIN(next, is);
		highest = MAX(highest, is);
	}
	*rank = next;
	return next < highest;
}

/* Returns the latest time of the stop signal of @n; of a service that runs no more, that of its end. */
static uint64_t deadline_latest_gate(const struct node *n, int rank)
{
	if (!n->stop_usec || n->complete)
		return USEC_INFINITY;
	if (!n->service || !fsm_has_process(n->service->state) || service_was_asked(n->service))
		return n->latest.end_usec;
	return forecast_latest_gate(n->config, rank, n->latest.end_usec, n->kill_usec);
}

/* Carries the times of the last pass one edge further.  Returns true if a time has changed. */
static bool deadline_relax(struct node *root, int rank)
{
	bool changed = false;

	for (struct node *n = root; n; n = node_next(n, root)) {
		struct latest *l = &n->latest;
		uint64_t gate;

		l->end_usec = n->parent ? n->parent->latest.end_usec : USEC_INFINITY;
		for (size_t i = 0; i < STOP_ORDER_LISTS; i++) {
			struct node *const *to = node_edges(n, stop_order_follow[i]);

			for (; to && *to; to++)
				l->end_usec = MIN(l->end_usec, (*to)->latest.gate_usec);
		}
		gate = deadline_latest_gate(n, rank);
		for (struct node *up = n; up && gate < up->latest.gate_usec; up = up->parent) {
			up->latest.gate_usec = gate;
			changed = true;
		}
	}
	return changed;
}

/*
 * Sets latest.usec of each node to the time by which it must be Complete, so that the services of a
 * higher rank that are signalled later have their whole stop-timeout.  Returns true if there are some.
 */
static bool deadline_find_latest(struct node *root)
{
	int rank = INT_MIN;
	bool any = false;

	for (struct node *n = root; n; n = node_next(n, root))
		n->latest.usec = USEC_INFINITY;
	while (deadline_next_rank(root, &rank)) {
		for (struct node *n = root; n; n = node_next(n, root))
			n->latest.gate_usec = USEC_INFINITY;
		while (deadline_relax(root, rank))
			any = true;
		for (struct node *n = root; n; n = node_next(n, root))
			if (n->config->stop_rank == rank)
				n->latest.usec = n->latest.end_usec;
	}
	return any;
}

void deadline_yield(struct node *root, uint64_t now)
{
	if (!deadline_find_latest(root))
		return;
	for (struct node *n = root; n; n = node_next(n, root)) {
		if (!n->stop_usec || n->complete)
			continue;
		n->latest.usec = MAX(n->latest.usec, now);
		n->deadline_usec = MIN(n->deadline_usec, n->latest.usec);
		deadline_begin(n, now);
		deadline_begin_last_call(n, now);
	}
}

bool deadline_limit(struct node *top, uint64_t until_usec, uint64_t now)
{
	char left[CLOCK_TEXT_MAX];

	if (!top->parent)
		top->ctx->bound_usec = MIN(top->ctx->bound_usec, until_usec);
	if (top->complete || until_usec >= top->deadline_usec)
		return false;
	node_log(top, LOG_NOTICE, "shutdown limited to %s from now: by request",
		 clock_text(left, clock_until(until_usec, now)));
	top->deadline_usec = until_usec;
	for (struct node *n = top; n; n = node_next(n, top)) {
		deadline_begin(n, now);
		final_limit(n, n->deadline_usec);
	}
	for (struct node *n = top; n; n = node_next(n, top))
		deadline_begin_last_call(n, now);
	if (!top->parent && top->ctx->held_usec && !deadline_hold(top, top->ctx->held_usec))
		deadline_release(top, "its time is limited by request");
	return true;
}
