#include "daemon/shutdown.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/deadline.h"
#include "daemon/final.h"
#include "daemon/order.h"
#include "daemon/report.h"
#include "daemon/service-hook.h"
#include "daemon/service-signal.h"
#include "daemon/service-timeout.h"
#include "daemon/starting.h"

static void set_restart(struct node *node, bool restart, uint64_t now)
{
	if (node->restart && !restart)
		node->given_up_usec = now;
	node->restart = restart;
}

/* Parents come first, so each finds its parent's deadline set. */
static void begin_stop(struct node *node, uint64_t now, bool restart)
{
	/* What is below comes back with it only. */
	set_restart(node, restart && (!node->stop_usec || node->restart), now);
	if (!node->stop_usec) {
		node->stop_usec = node->since_usec = now;
		node_changed(node, "running", "");
		trace_begin(node->trace, node->generation,
			    node->service ? fsm_state_name(node->service->state) : NULL, now);
		if (node->service && node->service->attach)
			attach_stop(node->service->attach);
	}
	deadline_begin(node, now);
}

static void latch(struct node *top, uint64_t now, bool restart)
{
	for (struct node *n = top; n; n = node_next(n, top))
		final_hold(n);
	swansong_shut_down(top->handle);
	for (struct node *n = top; n; n = node_next(n, top))
		begin_stop(n, now, restart);
	for (struct node *n = top; n; n = node_next(n, top))
		deadline_begin_last_call(n, now);
}

static void forget_restart(struct node *top, uint64_t now)
{
	for (struct node *n = top; n; n = node_next(n, top))
		set_restart(n, false, now);
}

static bool requires(const struct node *node, const struct node *target)
{
	struct node *const *required = node_edges(node, EDGE_REQUIRES);

	for (; required && *required; required++)
		if (*required == target)
			return true;
	return false;
}

/*
 * What requires @node stops with it, and comes back only if it does.  Return: has anything changed?
 */
static bool stop_dependents(struct node *node, uint64_t now)
{
	bool changed = false;

	for (size_t i = 0;
	     node_edges(node, LIST_DEPENDENTS) && node_edges(node, LIST_DEPENDENTS)[i]; i++) {
		struct node *d = node_edges(node, LIST_DEPENDENTS)[i];

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

struct shutdown_batch shutdown_batch_begin(struct tree *tree)
{
	return (struct shutdown_batch){ .tree = tree, .usec = clock_now_usec() };
}

static void add(struct shutdown_batch *batch, struct node *node, const char *reason, bool restart)
{
	struct tree *tree = batch->tree;

	batch->any = true;
	if (node_is_stopped(node))
		return;
	log_line(tree->ctx->log, LOG_NOTICE, "%s: shutting down: %s", node_name(node), reason);
	events_because(tree->ctx->events, reason);
	latch(node, batch->usec, restart);
	if (node == tree->root)
		report_begin(tree, reason, batch->usec);
}

void shutdown_batch_stop(struct shutdown_batch *batch, struct node *node, const char *reason)
{
	/* The last word counts: what was to come back does not. */
	forget_restart(node, batch->usec);
	add(batch, node, reason, false);
}

void shutdown_batch_restart(struct shutdown_batch *batch, struct node *node, const char *reason)
{
	add(batch, node, reason, true);
	node->restart = true;
	if (node->complete)
		node_follow_up(node);
}

void shutdown_batch_end(const struct shutdown_batch *batch)
{
	struct tree *tree = batch->tree;

	if (!batch->any)
		return;
	stop_bereft(tree, batch->usec);
	hold_all(tree->root);
	order_release(tree->ctx);
	tree->ctx->sweep = true; /* so that whoever asks what it waits for hears of leftovers */
	context_settle_soon(tree->ctx);
}

void shutdown_stop(struct tree *tree, struct node *node, const char *reason)
{
	struct shutdown_batch batch = shutdown_batch_begin(tree);

	shutdown_batch_stop(&batch, node, reason);
	shutdown_batch_end(&batch);
}

void shutdown_restart(struct tree *tree, struct node *node, const char *reason)
{
	struct shutdown_batch batch = shutdown_batch_begin(tree);

	shutdown_batch_restart(&batch, node, reason);
	shutdown_batch_end(&batch);
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
	forget_restart(node, clock_now_usec());
	hold_all(node);
	log_line(node->ctx->log, LOG_ERR, "%s: cannot be started again: %s", node_name(node),
		 r == -ESHUTDOWN ? "what it requires is stopped" : strerror(-r));
}

void shutdown_bring_back(struct node *node)
{
	for (struct node *n = node; n; n = node_next(n, node)) {
		if (!node_is_stopped(n) || n->restart || n->retired)
			continue;
		n->restart = true;
		if (n->service)
			n->service->was_wanted = false;
	}
	if (node->service)
		node->service->was_wanted = true;
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
		deadline_force(node, clock_now_usec());
}

static void give_up(const struct node *node, struct process *process)
{
	log_line(node->ctx->log, LOG_ERR, "%s: pid %d (%s) cannot be killed; giving it up",
		 node_name(node), (int)process->pid, process->name);
	trace_guard_end(node->trace, process->id, "abandoned");
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
	if (!node_is_draining(node))
		list_remove(&node->in_ending);
	node->since_usec = clock_now_usec();
	trace_complete(node->trace, node->forced, node->late_usec,
		       node->config->shutdown_timeout_usec, node->since_usec);
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
		if (node->service && !node->config->argv && !fsm_has_process(node->service->state))
			node->service = service_free(node->service);
		if (node->retired)
			tree_prune(tree, node);
		else if (node->restart)
			start_again(node);
	}
	return root;
}
