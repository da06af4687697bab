/*
 * A node has its own budget, but no more time than its parent leaves it, which reserves the time of
 * its own final action.  So there are three times: the last call (call_usec), which revokes guards
 * for which the stop signals of other services wait; the kill phase (kill_usec), which forces all
 * that remains except the final action; and the end of the final action (deadline_usec).
 *
 * A node has a timer only if it ends before its parent does.
 */
#include "daemon/tree/deadline.h"

#include "base/clock.h"
#include "daemon/spawn/alert.h"
#include "daemon/spawn/final.h"
#include "daemon/guard/lease.h"
#include "daemon/node/stop-order.h"
#include "daemon/service/machine.h"
#include "daemon/service/signal.h"
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

/* Of a node with less time than its own budget and that of its parent. */
static bool deadline_is_limited_by_request(const struct node *node)
{
	return !node->parent || node->deadline_usec < node->parent->kill_usec;
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

void deadline_force_soon(struct node *node)
{
	uint64_t now = clock_now_usec();

	if (!node->stop_usec)
		return;
	node->deadline_usec = MIN(node->deadline_usec, now);
	node->kill_usec = MIN(node->kill_usec, now);
	node->force.asked = true;
	node_add_task(node, TASK_DEADLINES);
}

static void deadline_process(struct node *node)
{
	bool asked = node->force.asked;
	uint64_t now;

	node->force.asked = false;
	/* Only the final action remains, which has a limit of its own. */
	if (!node->stop_usec || (final_has_begun(node) && !asked))
		return;
	if (node->call_usec < node->kill_usec && clock_now_usec() < node->kill_usec) {
		deadline_last_call(node);
		return;
	}
	if (!asked) {
		uint64_t usec = node->config->shutdown_timeout_usec;
		bool by_grace = deadline_granted_usec(node) < usec;
		const char *but = final_is_pending(node) ? "; the final action has time left" : "";
		char budget[CLOCK_TEXT_MAX];

		if (node->deadline_usec <
		    clock_add(node->stop_usec, deadline_budget_of(node, node->config)))
			node_log(node, LOG_WARNING,
				 deadline_is_limited_by_request(node)
					 ? "the grace of a request less a margin has expired%s"
					 : "the budget of an ancestor has expired%s",
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

void deadline_update(struct context *ctx)
{
	struct node *node;

	node_for_each_taken (node, ctx, TASK_DEADLINES)
		deadline_process(node);
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

bool deadline_limit(struct node *top, uint64_t until_usec, uint64_t now)
{
	char left[CLOCK_TEXT_MAX];

	if (top->complete || until_usec >= top->deadline_usec)
		return false;
	node_log(top, LOG_NOTICE, "shutdown limited to %s from now: by request",
		 clock_text(left, until_usec > now ? until_usec - now : 0));
	top->deadline_usec = until_usec;
	for (struct node *n = top; n; n = node_next(n, top)) {
		deadline_begin(n, now);
		final_limit(n, n->deadline_usec);
	}
	for (struct node *n = top; n; n = node_next(n, top))
		deadline_begin_last_call(n, now);
	return true;
}
