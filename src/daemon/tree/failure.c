/*
 * A restart group restarts as by swansongctl restart: it is stopped gracefully and in order, and
 * starts again when all of its members are Complete, so that no member meets an earlier generation
 * of another.  No member starts before the restart-delay of the failed service is over: a crash
 * loop runs no faster for a group than for one service.
 */
#include "daemon/tree/failure.h"

#include <stdio.h>

#include "daemon/spawn/alert.h"
#include "daemon/tree/goals.h"
#include "model/life/result.h"

static void failure_restart_members(struct tree *tree, struct service *s)
{
	struct node *parent = s->node->parent, *n;
	bool all = parent->config->strategy == ONE_FOR_ALL, found = false;
	uint64_t usec = s->timeout_usec;
	char reason[CONFIG_NAME_MAX + 50];
	struct goals goals;

	(void)snprintf(reason, sizeof(reason), "restarted with %s (%s)", s->config->path,
		       all ? "one-for-all" : "rest-for-one");
	s->restarts++;
	goals_begin(&goals, tree, CAUSE_STRATEGY);
	list_for_each (n, &parent->children, sibling) {
		found |= n == s->node;
		/* Stopped and idle members stay as they are; work that uses one is no member. */
		if ((!all && !found) || node_is_use(n) ||
		    (n->goal != GOAL_UP && n->goal != GOAL_CYCLE))
			continue;
		for (struct node *below = n; below; below = node_next(below, n))
			if (below->service)
				below->service->not_before_usec = usec;
		goals_lower(&goals, n, REQUEST_CYCLE, reason);
	}
	goals_commit(&goals);
}

static void failure_process(struct tree *tree, struct service *s)
{
	struct node *parent = s->node->parent;

	if (service_is_stopped(s))
		return;
	if (s->state == STATE_BACKOFF && parent->config->strategy != ONE_FOR_ONE)
		failure_restart_members(tree, s);
	/* Before a stop: on-failure-command then runs within its budget. */
	if (s->state == STATE_FAILED) {
		const struct result_of result = {
			.config = s->config,
			.outcome = &s->run.outcome,
			.late = s->run.late,
		};

		alert_begin(s->node, &s->run.outcome, result_name(&result));
	}
	if (s->state == STATE_FAILED && s->config->on_failed == ON_FAILED_SHUTDOWN_PARENT &&
	    parent->parent)
		goals_stop(tree, parent, CAUSE_FAILURE, "a service of the group was given up");
}

void failures_process(struct tree *tree)
{
	struct node *node;

	node_for_each_taken (node, tree->ctx, TASK_FAILURES)
		failure_process(tree, node->service);
}
