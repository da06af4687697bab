#include "daemon/shutdown.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/final.h"
#include "daemon/lease.h"
#include "daemon/order.h"
#include "daemon/service-hook.h"
#include "daemon/service-signal.h"
#include "daemon/service-timeout.h"
#include "daemon/starting.h"
#include "model/budget.h"

static void revoke_leases(struct node *node)
{
	while (!list_is_empty(&node->leases)) {
		struct lease *lease = list_entry(node->leases.next, struct lease, of_node);
		char text[LEASE_TEXT_MAX];

		log_line(node->ctx->log, LOG_WARNING, "%s: revoking the guard of %s",
			 node_name(node), lease_text(text, lease));
		node->late_usec = clock_now_usec();
		for (struct node *n = node; n; n = n->parent)
			if (n->stop_usec)
				n->forced = true;
		lease_lose(lease, LEASE_REVOKED);
	}
}

/* Kills and revokes all of a stopped @node; its own final action may last until @deadline. */
static void force(struct node *node, uint64_t deadline)
{
	uint64_t now = clock_now_usec();

	node->deadline_usec = MIN(node->deadline_usec, deadline);
	for (struct node *n = node; n; n = node_next(n, node)) {
		n->kill_usec = MIN(n->kill_usec, now);
		if (n != node)
			n->deadline_usec = MIN(n->deadline_usec, now);
		if (n->budget)
			(void)sd_event_source_set_enabled(n->budget, SD_EVENT_OFF);
		if (n->service && n->service->state != STATE_KILLING)
			service_handle(n->service, EVENT_KILL);
		if (n->service)
			service_end_rest(n->service);
		revoke_leases(n);
		final_hurry(n);
	}
	context_settle_soon(node->ctx);
}

/* For the root there is also what whoever supervises us leaves. */
static uint64_t granted(const struct node *node)
{
	return node->parent ? USEC_INFINITY : budget_of_grace(node->ctx->grace_usec);
}

static uint64_t budget_of(const struct node *node, const struct node_config *config)
{
	return MIN(config->shutdown_timeout_usec, granted(node));
}

void shutdown_tell_limit(const struct node *root)
{
	char grace[CLOCK_TEXT_MAX], timeout[CLOCK_TEXT_MAX], left[CLOCK_TEXT_MAX];
	uint64_t usec = root->config->shutdown_timeout_usec;

	if (granted(root) >= usec)
		return;
	log_line(root->ctx->log, LOG_NOTICE,
		 "a shutdown has %s: the grace of %s less a margin, not the shutdown-timeout of %s",
		 clock_text(left, granted(root)), clock_text(grace, root->ctx->grace_usec),
		 clock_text(timeout, usec));
}

static void log_spent(const struct node *node)
{
	uint64_t usec = node->config->shutdown_timeout_usec;
	bool by_grace = granted(node) < usec;
	const char *but = final_is_pending(node) ? " but for its final action" : "";
	char budget[CLOCK_TEXT_MAX];

	if (node->deadline_usec < clock_add(node->stop_usec, budget_of(node, node->config)))
		log_line(node->ctx->log, LOG_WARNING, "%s: the budget above it is spent%s",
			 node_name(node), but);
	else
		log_line(node->ctx->log, LOG_WARNING, "%s: its %s of %s is spent%s%s",
			 node_name(node), by_grace ? "grace" : "shutdown-timeout",
			 clock_text(budget, by_grace ? node->ctx->grace_usec : usec),
			 by_grace ? " but for a margin" : "", but);
}

/* Who would otherwise be killed with those that he waits for, unasked, is to have his signal before. */
static void last_call(struct node *node)
{
	node->call_usec = USEC_INFINITY;
	context_arm(node->ctx, node->budget, node->kill_usec);
	for (struct node *n = node; n; n = node_next(n, node))
		if (order_followers_timeout(n) > 0 && !order_gate(n))
			revoke_leases(n);
}

static int on_budget(sd_event_source *source, uint64_t usec, void *arg)
{
	struct node *node = arg;

	(void)source;
	(void)usec;
	/* Nothing but the final action is left, which has a limit of its own. */
	if (final_has_begun(node))
		return 0;
	if (node->call_usec < node->kill_usec) {
		last_call(node);
		return 0;
	}
	log_spent(node);
	force(node, node->deadline_usec);
	return 0;
}

int shutdown_watch(struct node *node, const struct node_config *config)
{
	bool has_final = node_config_hook(config, HOOK_FINAL)->n > 0;
	int r;

	if ((budget_of(node, config) == USEC_INFINITY && !has_final) || node->budget)
		return 0;
	r = sd_event_add_time(node->ctx->event, &node->budget, CLOCK_MONOTONIC, USEC_INFINITY, 1,
			      on_budget, node);
	return r < 0 ? r : 0;
}

static void set_restart(struct node *node, bool restart, uint64_t now)
{
	if (node->restart && !restart)
		node->given_up_usec = now;
	node->restart = restart;
}

/* With the parent's budget it is forced when that is. */
static bool has_own_end(const struct node *node)
{
	return node->budget && (!node->parent || node->kill_usec < node->parent->kill_usec);
}

/* Children never outlive the budget of their parent, nor do they take the time of its final action. */
static void set_deadlines(struct node *node, uint64_t now, uint64_t deadline)
{
	uint64_t before = node->kill_usec;
	uint64_t wanted = final_is_pending(node) ? node->config->final_timeout_usec : 0;

	node->deadline_usec = MIN(node->deadline_usec, deadline);
	if (node->parent)
		node->deadline_usec = MIN(node->deadline_usec, node->parent->kill_usec);
	node->kill_usec = MIN(before, budget_before(node->deadline_usec, now, wanted));
	if (node->kill_usec < before)
		node->call_usec = USEC_INFINITY;
	if (node->kill_usec < before && has_own_end(node))
		context_arm(node->ctx, node->budget, node->kill_usec);
}

/* Once the deadlines of all are known: those of whom others wait are to be done a little earlier. */
static void set_last_call(struct node *node, uint64_t now)
{
	uint64_t timeout = order_followers_timeout(node), call;
	struct node *top = node;

	if (timeout == 0)
		return;
	while (!has_own_end(top) && top->parent)
		top = top->parent;
	call = budget_before(top->kill_usec, now, timeout);
	if (!top->budget || call >= top->call_usec || call >= top->kill_usec)
		return;
	top->call_usec = call;
	context_arm(top->ctx, top->budget, call);
}

/* Parents come first, so each finds its parent's deadline set. */
static void begin_stop(struct node *node, uint64_t now, bool restart)
{
	uint64_t deadline = USEC_INFINITY;

	/* What is below comes back with it only. */
	set_restart(node, restart && (!node->stop_usec || node->restart), now);
	if (!node->stop_usec) {
		node->stop_usec = node->since_usec = now;
		deadline = clock_add(now, budget_of(node, node->config));
		node_changed(node, "running", "");
		if (node->service && node->service->attach)
			attach_stop(node->service->attach);
	}
	set_deadlines(node, now, deadline);
}

static void latch(struct node *top, uint64_t now, bool restart)
{
	for (struct node *n = top; n; n = node_next(n, top))
		final_hold(n);
	swansong_shut_down(top->handle);
	for (struct node *n = top; n; n = node_next(n, top))
		begin_stop(n, now, restart);
	for (struct node *n = top; n; n = node_next(n, top))
		set_last_call(n, now);
}

static void forget_restart(struct node *top, uint64_t now)
{
	for (struct node *n = top; n; n = node_next(n, top))
		set_restart(n, false, now);
}

static bool requires(const struct node *node, const struct node *target)
{
	struct node *const *required = node->edges[EDGE_REQUIRES];

	for (; required && *required; required++)
		if (*required == target)
			return true;
	return false;
}

/* What requires @node stops with it, and comes back only if it does.  Return: has anything changed? */
static bool stop_dependents(struct node *node, uint64_t now)
{
	bool changed = false;

	for (size_t i = 0; node->dependents && node->dependents[i]; i++) {
		struct node *d = node->dependents[i];

		if (!requires(d, node))
			continue;
		if (!d->stop_usec) {
			log_line(d->ctx->log, LOG_NOTICE, "%s: shutting down: it requires %s",
				 node_name(d), node_name(node));
			latch(d, now, node->restart);
			changed = true;
		} else if (d->restart && !node->restart) {
			forget_restart(d, now);
			changed = true;
		}
	}
	return changed;
}

/*
 * All that requires what has been stopped at @now, or what at @now was kept from coming back.  Who
 * requires what was stopped earlier may be back already, and waits for it.
 */
static void stop_bereft(struct tree *tree, uint64_t now)
{
	bool changed;

	do {
		changed = false;
		for (struct node *n = tree->root; n; n = node_next(n, tree->root))
			if (n->stop_usec && (n->stop_usec == now || n->given_up_usec == now))
				changed |= stop_dependents(n, now);
	} while (changed);
}

static void hold_all(struct node *top)
{
	for (struct node *n = top; n; n = node_next(n, top))
		if (n->service && n->stop_usec) {
			service_rearm(n->service); /* what has begun to end, by a nearer budget */
			order_hold(n->service);
		}
}

static void stop(struct tree *tree, struct node *node, const char *reason, bool restart,
		 uint64_t now)
{
	if (!node_is_stopped(node)) {
		log_line(tree->ctx->log, LOG_NOTICE, "%s: shutting down: %s", node_name(node),
			 reason);
		events_because(tree->ctx->events, reason);
		latch(node, now, restart);
	}
	stop_bereft(tree, now);
	hold_all(tree->root);
	order_release(tree->ctx);
	tree->ctx->sweep = true; /* so that whoever asks what it waits for hears of leftovers */
	context_settle_soon(tree->ctx);
}

void shutdown_stop(struct tree *tree, struct node *node, const char *reason)
{
	uint64_t now = clock_now_usec();

	/* The last word counts: what was to come back does not. */
	forget_restart(node, now);
	stop(tree, node, reason, false, now);
}

static void start_again(struct node *node)
{
	int r;

	/* It comes back with its parent. */
	if (node->parent && node->parent->restart)
		return;
	r = starting_resume(node);
	if (r == 0)
		return;
	node->restart = false;
	log_line(node->ctx->log, LOG_ERR, "%s: cannot be started again: %s", node_name(node),
		 r == -ESHUTDOWN ? "what it requires is stopped" : strerror(-r));
}

void shutdown_restart(struct tree *tree, struct node *node, const char *reason)
{
	stop(tree, node, reason, true, clock_now_usec());
	node->restart = true;
	if (node->complete)
		start_again(node);
}

void shutdown_revive(struct node *node)
{
	if (!node_is_stopped(node) || node->restart)
		return;
	if (node->parent && node_is_stopped(node->parent)) {
		/* It comes back with its parent, or not at all yet. */
		node->restart = node->parent->restart;
		return;
	}
	node->restart = true;
	if (node->complete)
		start_again(node);
}

void shutdown_force(struct node *node)
{
	if (node->stop_usec)
		force(node, clock_now_usec());
}

static void give_up(const struct node *node, struct process *process)
{
	log_line(node->ctx->log, LOG_ERR, "%s: pid %d (%s) cannot be killed; giving it up",
		 node_name(node), (int)process->pid, process->name);
	swansong_guard_drop(&process->guard);
}

void shutdown_abandon(struct tree *tree)
{
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		struct service *s = n->service;
		struct process *p;
		struct hook *h;

		final_abandon(n);
		if (!s || !(fsm_has_process(s->state) || !list_is_empty(&s->leftovers)))
			continue;
		for (unsigned i = 0; (h = service_running_hook(s, i)); i++)
			give_up(n, &h->process);
		if (s->main.alive || (s->main.pid > 0 && list_is_empty(&s->leftovers)))
			give_up(n, &s->main);
		list_for_each (p, &s->leftovers, by_service)
			give_up(n, p);
		swansong_guard_drop(&s->main.guard);
	}
}

static void follow(struct tree *tree, struct node *node)
{
	char took[CLOCK_TEXT_MAX];
	int level = node->service && list_is_empty(&node->children) ? LOG_DEBUG : LOG_NOTICE;

	node->complete = true;
	node->since_usec = clock_now_usec();
	node_changed(node, "shutting_down", node->forced ? "forced" : "");
	if (node->transient)
		node_finished(node);
	if (node->budget)
		(void)sd_event_source_set_enabled(node->budget, SD_EVENT_OFF);
	log_line(tree->ctx->log, level, "%s: complete in %s%s", node_name(node),
		 clock_text(took, node->since_usec - node->stop_usec),
		 node->forced ? " (forced)" : "");
}

bool shutdown_follow(struct tree *tree)
{
	bool root = false;

	while (!list_is_empty(&tree->ctx->completed)) {
		struct node *node =
			list_entry(tree->ctx->completed.next, struct node, in_completed);

		list_remove(&node->in_completed);
		final_settle(node);
		if (!node->complete && swansong_completion_done(node->completion)) {
			follow(tree, node);
			root |= node == tree->root;
		}
		if (node->service && !node->config->argv &&
		    !fsm_has_process(node->service->state))
			node->service = service_free(node->service);
		if (node->retired)
			tree_prune(tree, node);
		else if (node->restart)
			start_again(node);
	}
	return root;
}
