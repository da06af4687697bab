#include "daemon/failure.h"

#include <stdio.h>

#include "base/clock.h"
#include "daemon/shutdown.h"

/*
 * The others are restarted as they would be by hand: stopped gracefully and in order, and started
 * when all of them are Complete: none of them is to meet what another was before.  Nobody of them,
 * nor the service itself, starts before its restart-delay is over; so a loop of crashes goes no
 * faster for a group than for one.
 */

void failure_note(struct service *s)
{
	if (list_is_empty(&s->in_fallen))
		list_append(&s->ctx->fallen, &s->in_fallen);
	context_settle_soon(s->ctx);
}

bool failure_is_fatal(const struct service *s)
{
	const struct node *parent = s->node->parent;

	return s->config->on_failed == ON_FAILED_SHUTDOWN ||
	       (s->config->on_failed == ON_FAILED_SHUTDOWN_PARENT && !parent->parent);
}

static void delay_start(struct node *top, uint64_t usec)
{
	for (struct node *n = top; n; n = node_next(n, top)) {
		if (!n->service)
			continue;
		n->service->not_before_usec = usec;
		n->service->together = true;
	}
}

/* What was stopped for good stays so, and what nobody has started yet is not started by this. */
static bool is_concerned(const struct node *node)
{
	if (node->retired)
		return false;
	if (node_is_stopped(node))
		return node->restart;
	return !node->service || node->service->wanted;
}

static void be_waited_for(struct node *node)
{
	if (node_is_draining(node) && list_is_empty(&node->in_ending))
		list_append(&node->parent->ending, &node->in_ending);
}

static void restart_together(struct tree *tree, struct service *s)
{
	struct node *parent = s->node->parent, *n;
	struct shutdown_batch batch = shutdown_batch_begin(tree);
	bool all = parent->config->strategy == ONE_FOR_ALL, found = false;
	uint64_t usec = s->timeout_usec;
	char reason[CONFIG_NAME_MAX + 50];

	(void)snprintf(reason, sizeof(reason), "%s is restarted, and they are %s", s->config->path,
		       all ? "one-for-all" : "rest-for-one");
	s->restarts++;
	list_for_each (n, &parent->children, sibling) {
		found |= n == s->node;
		if ((!all && !found) || !is_concerned(n))
			continue;
		delay_start(n, usec);
		shutdown_batch_restart(&batch, n, reason);
		be_waited_for(n);
	}
	shutdown_batch_end(&batch);
}

static void follow(struct tree *tree, struct service *s)
{
	struct node *parent = s->node->parent;

	if (s->node->retired || node_is_stopped(s->node))
		return;
	if (s->state == STATE_BACKOFF && parent->config->strategy != ONE_FOR_ONE)
		restart_together(tree, s);
	if (s->state == STATE_FAILED && s->config->on_failed == ON_FAILED_SHUTDOWN_PARENT &&
	    parent->parent)
		shutdown_stop(tree, parent, "a service of it was given up");
}

void failure_follow(struct tree *tree)
{
	while (!list_is_empty(&tree->ctx->fallen)) {
		struct service *s = list_entry(tree->ctx->fallen.next, struct service, in_fallen);

		list_remove(&s->in_fallen);
		follow(tree, s);
	}
}
