/*
 * No member has the node for which a service was stopped: it is the nearest one above with the key, if memory is short
 * for that, too.  Dependents stop along with their requirements, also outside of it: their rank is not higher.
 */
#include "daemon/demand/relief.h"

#include "daemon/node/pressure.h"
#include "daemon/tree/goals.h"

static bool relief_is_running(const struct node *n)
{
	return n->service && service_is_wanted(n->service) && !node_is_aside(n);
}

static bool relief_may_stop(const struct tree *tree, const struct node *n)
{
	return relief_is_running(n) && n->config->stop_rank < tree->root->config->stop_rank;
}

/* Returns true if memory is short for @node, or it has not started its services again. */
static bool relief_is_due(const struct node *node)
{
	const struct pressure *p = node->pressure;

	return p && (p->over || p->calm.usec != USEC_INFINITY);
}

/* Returns true if @n was stopped for @node; NULL: for the sleep of the host. */
static bool relief_is_of(const struct node *n, const struct node *node)
{
	const struct node *by = node_with_pressure_stop(n);

	if (!node)
		return node_is_stopped_for(n, CAUSE_SLEEP);
	return node_is_stopped_for(n, CAUSE_PRESSURE) &&
	       (by == node || !relief_is_due(by) ||
		node_config_extras(node->config)->pressure_stop.window_usec == 0);
}

/* Returns true if @n, or a node above it, is stopped for another reason. */
static bool relief_is_kept(const struct node *n)
{
	for (; n; n = n->parent)
		if (n->goal <= GOAL_DOWN && !node_is_stopped_for(n, CAUSE_PRESSURE) &&
		    !node_is_stopped_for(n, CAUSE_SLEEP))
			return true;
	return false;
}

static bool relief_may_start(const struct node *n)
{
	bool kept = relief_is_kept(n);

	for (; n; n = n->parent)
		for (struct node *const *to = node_edges(n, EDGE_REQUIRES); to && *to; to++)
			kept |= relief_is_kept(*to);
	return !kept;
}

static void relief_stop(struct tree *tree, struct node *node, int percent)
{
	char reason[64];
	int lowest = INT_MAX;
	struct goals goals;

	for (struct node *n = node; n; n = node_next(n, node)) {
		if (node_is_stopped_for(n, CAUSE_PRESSURE) && !n->complete)
			return;
		if (relief_may_stop(tree, n))
			lowest = MIN(lowest, n->config->stop_rank);
	}
	if (lowest == INT_MAX)
		return;
	(void)snprintf(reason, sizeof(reason), "memory was short for %d%% of the time", percent);
	goals_begin(&goals, tree, CAUSE_PRESSURE);
	for (struct node *n = node; n; n = node_next(n, node))
		if (relief_may_stop(tree, n) && n->config->stop_rank == lowest)
			goals_lower(&goals, n, REQUEST_STOP, reason);
	goals_commit(&goals);
}

/*
 * Nodes that others keep down are not of the shortage any more: they start with what they require.  Returns true if others
 * wait for the next time; with @all none does.  @node: as in relief_is_of().
 */
static bool relief_start(struct tree *tree, struct node *node, bool all)
{
	int highest = INT_MIN;
	bool more = false;

	for (struct node *n = tree->root; n; n = node_next(n, tree->root))
		if (relief_is_of(n, node) && !relief_may_start(n))
			goals_lower_one(tree, n, CAUSE_DEPENDENCY, REQUEST_STOP, "");
		else if (relief_is_of(n, node))
			highest = MAX(highest, n->config->stop_rank);
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		if (!relief_is_of(n, node))
			continue;
		if (n->config->stop_rank < highest && !all)
			more = true;
		else if (goals_start(n, CAUSE_CONFIGURATION, false) == 0)
			node_log(n, LOG_NOTICE, "starts again: %s",
				 node ? "memory is not short any more" : "the host is awake");
	}
	return more;
}

void relief_process(struct tree *tree, struct node *node)
{
	struct pressure *p;

	pressure_use(node);
	p = node->pressure;
	if (!p) {
		(void)relief_start(tree, node, true);
		return;
	}
	if (p->percent > 0)
		relief_stop(tree, node, p->percent);
	else if (p->over && relief_start(tree, node, false))
		alarm_set(&tree->ctx->alarms, &p->calm,
			  clock_add(clock_now_usec(), p->limit.window_usec));
	p->percent = 0;
	p->over = false;
}

void relief_begin_sleep(struct tree *tree)
{
	struct goals goals;

	if (tree->sleepers++ > 0)
		return;
	goals_begin(&goals, tree, CAUSE_SLEEP);
	for (struct node *n = tree->root; n; n = node_next(n, tree->root))
		if (relief_is_running(n) && node_config_extras(n->config)->on_sleep)
			goals_lower(&goals, n, REQUEST_STOP, "the host goes to sleep");
	goals_commit(&goals);
}

void relief_end_sleep(struct tree *tree)
{
	if (--tree->sleepers == 0)
		(void)relief_start(tree, NULL, true);
}
