/*
 * A stop is latched on a whole subtree at once: the handles of libswansong first, then the
 * deadlines of each node from the top down.  goals.c selects the nodes; the update turn sends the
 * signals.
 */
#include "daemon/tree/stop.h"

#include "daemon/service/notify.h"
#include "daemon/service/timeout.h"
#include "daemon/tree/deadline.h"

void stop_latch(struct tree *tree, struct node *top, uint64_t now, const char *reason)
{
	if (node_is_stopped(top))
		return;
	node_log(top, LOG_NOTICE, "shutting down: %s", reason);
	events_because(tree->ctx->events, reason);
	if (top == tree->root && tree->ctx->traces.wanted)
		traces_begin(&tree->ctx->traces, reason, now);
	for (struct node *n = top; n; n = node_next(n, top)) {
		if (!n->stop_usec)
			node_count_draining(n, 1);
		final_hold(n);
	}
	swansong_shut_down(top->handle);
	for (struct node *n = top; n; n = node_next(n, top)) {
		/* Parents come first, so each finds its parent's deadline set. */
		if (!n->stop_usec) {
			n->stop_usec = n->since_usec = now;
			node_changed(n, "running", "");
			trace_begin(n->trace, n->generation,
				    n->service ? fsm_state_name(n->service->state) : NULL, now);
			trace_explain(n->trace, reason);
			if (n->service && n->service->setup.extras->attach)
				attach_stop(n->service->setup.extras->attach);
		}
		deadline_begin(n, now);
	}
	for (struct node *n = top; n; n = node_next(n, top)) {
		deadline_begin_last_call(n, now);
		trace_touch(n->trace);
	}
}

void stop_commit(struct tree *tree)
{
	deadline_yield(tree->root, clock_now_usec());
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		if (!n->service || !n->stop_usec)
			continue;
		service_stop_kept(n->service);
		service_rearm(n->service); /* a nearer budget shortens timeouts of states */
		service_notify_held(n->service);
		service_note_goal(n->service);
	}
	/* Requests show the remaining processes for which the stop waits. */
	context_scan_orphans(tree->ctx);
	context_update_soon(tree->ctx);
}

static void stop_give_up_process(const struct node *node, struct process *process)
{
	node_log(node, LOG_ERR, "giving up pid %d (%s): SIGKILL has no effect", (int)process->pid,
		 process->name);
	trace_guard_end(node->trace, process->id, "abandoned");
	swansong_guard_drop(&process->guard);
}

void stop_abandon(struct tree *tree)
{
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		struct service *s = n->service;
		struct process *p;
		struct hook *h;

		final_abandon(n);
		alert_abandon(n);
		if (!s || !(fsm_has_process(s->state) || !list_is_empty(&s->remaining)))
			continue;
		for (unsigned i = 0; (h = service_running_hook(s, i)); i++)
			stop_give_up_process(n, &h->process);
		if (s->main.alive || (s->main.pid > 0 && list_is_empty(&s->remaining)))
			stop_give_up_process(n, &s->main);
		list_for_each (p, &s->remaining, by_service)
			stop_give_up_process(n, p);
		swansong_guard_drop(&s->main.guard);
	}
}
