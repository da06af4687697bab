/*
 * Nodes of on-success-start and on-failure-start start as by a client, once for each run: a state that is restored
 * after a fault starts none.
 *
 * A service that is bound to the failed one is stopped; that one waits for its end, see start-order.h.
 *
 * A restart group restarts as by swansongctl restart: it is stopped gracefully and in order, and
 * starts again when all of its members are Complete, so that no member meets an earlier generation
 * of another.  No member starts before the restart-delay of the failed service is over: a crash
 * loop runs no faster for a group than for one service.
 */
#include "daemon/tree/failure.h"

#include "daemon/tree/goals.h"
#include "model/keys/keys.h"

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
		if ((!all && !found) || node_is_use(n) || node_is_aside(n) ||
		    (n->goal < GOAL_UP && n->goal != GOAL_CYCLE))
			continue;
		for (struct node *below = n; below; below = node_next(below, n))
			if (below->service)
				below->service->not_before_usec = usec;
		goals_lower(&goals, n, REQUEST_CYCLE, reason);
	}
	goals_commit(&goals);
}

static bool failure_has_run(const struct node *top)
{
	for (const struct node *n = top; n; n = node_next(n, top))
		if (n->service && fsm_has_process(n->service->state))
			return true;
	return false;
}

/*
 * Stops the nodes that are bound to @s, which has ended by itself.  They restart if @s does; else they stay
 * down, as waiting for @s would start it.
 */
static void failure_stop_bound(struct tree *tree, const struct service *s)
{
	enum goal_request request = s->state == STATE_BACKOFF ? REQUEST_CYCLE : REQUEST_STOP;
	char reason[CONFIG_NAME_MAX + 30];
	struct goals goals;

	(void)snprintf(reason, sizeof(reason), "bound to %s, which has ended", s->config->path);
	/* A scheduled service that a dependency has stopped could be needed at once, and start @s again. */
	goals_begin(&goals, tree, CAUSE_FAILURE);
	for (const struct node *n = s->node; n; n = n->parent)
		for (struct node *const *to = node_edges(n, LIST_DEPENDENTS); to && *to; to++)
			if ((*to)->goal >= GOAL_UP && node_has_edge(*to, EDGE_BINDS_TO, n) &&
			    failure_has_run(*to))
				goals_lower(&goals, *to, request, reason);
	goals_commit(&goals);
}

static void failure_start_chain(struct tree *tree, struct service *s, enum chain chain)
{
	char *const *name = node_config_extras(s->config)->chains[chain];

	if (!name || s->run.chained)
		return;
	s->run.chained = true;
	service_update_roster(s);
	for (; *name; name++)
		for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
			bool is_instance = config_is_template(*name) && config_is_instance(n->path, *name);

			if ((!is_instance && strcmp(n->path, *name) != 0) || node_is_within(s->node, n))
				continue;
			if (n->disabled || goals_start(n, CAUSE_CONFIGURATION, true) < 0) {
				node_log(n, LOG_NOTICE, "not started after %s: it is %s", s->config->path,
					 n->disabled ? "disabled" : "going to be removed");
				continue;
			}
			node_log(n, LOG_INFO, "started after %s: %s", s->config->path,
				 keys[KEY_ON_SUCCESS_START + chain].name);
		}
}

void failure_process(struct tree *tree, struct node *node)
{
	struct service *s = node->service;
	struct node *parent = node->parent;

	if (service_is_stopped(s) || node_is_aside(node))
		return;
	if (!service_is_present(s))
		failure_stop_bound(tree, s);
	if (s->state == STATE_BACKOFF && parent->config->strategy != ONE_FOR_ONE)
		failure_restart_members(tree, s);
	/* Before a stop: on-failure-command then runs within its budget. */
	if (s->state == STATE_FAILED && !node_is_stopped(s->node)) {
		char text[OUTCOME_TEXT_MAX];
		const struct result_of result = {
			.config = s->config,
			.outcome = &s->run.outcome,
			.late = s->run.late,
		};

		s->in_trouble = true;
		alert_raise(node, ALERT_GIVEN_UP, result_name(&result),
			    policy_outcome_text(text, &s->run.outcome));
	}
	if (s->state == STATE_FAILED)
		failure_start_chain(tree, s, CHAIN_FAILURE);
	else if ((s->state == STATE_DONE && !service_is_skipped(s)) || s->run.worked)
		failure_start_chain(tree, s, CHAIN_SUCCESS);
	if (s->state == STATE_FAILED && s->config->on_failed == ON_FAILED_SHUTDOWN_PARENT &&
	    parent->parent)
		goals_lower_one(tree, parent, CAUSE_FAILURE, REQUEST_STOP,
				"a service of the group was given up");
}
