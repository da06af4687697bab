/*
 * Whether a request changes a node depends on its goal alone (goal_next()); this file selects the
 * nodes.  Walks along edges collect nodes in a list of the batch, by their in_batch: each is
 * visited once, and nothing is allocated.
 */
#include "daemon/tree/goals.h"

#include "daemon/service/signal.h"
#include "daemon/tree/deadline.h"
#include "daemon/tree/start-order.h"
#include "daemon/tree/stop.h"

/* --- the one writer --- */

static void goals_write(struct node *node, enum goal goal, enum goal_cause cause)
{
	bool before = node_is_cycled_by_strategy(node);

	if (node->goal == goal && node->cause >= cause)
		return;
	if (goal == GOAL_UP && node->goal < GOAL_UP)
		node->raised_usec = clock_now_usec();
	node->goal = goal;
	node->cause = cause;
	if (node->parent)
		node->parent->cycling += node_is_cycled_by_strategy(node) - before;
	node_update_roster(node);
}

void goals_init(struct node *node, const struct node_config *config)
{
	goals_write(node, goal_initial(config->argv, node_starts_by_itself(node, config)),
		    CAUSE_CONFIGURATION);
}

void goals_reconfigure(struct node *node, bool was_group)
{
	bool is_group = !node->config->argv;

	if (was_group != is_group && node->goal >= GOAL_IDLE)
		goals_init(node, node->config);
}

static bool goals_request(struct node *node, enum goal_request request, enum goal_cause cause)
{
	enum goal before = node->goal;

	goals_write(node, goal_next(before, request), cause);
	return node->goal != before;
}

/* --- down --- */

void goals_begin(struct goals *g, struct tree *tree, enum goal_cause cause)
{
	*g = (struct goals){
		.tree = tree,
		.cause = cause,
		.usec = clock_now_usec(),
		.until_usec = USEC_INFINITY,
		.keep = 1,
	};
	list_init(&g->lowered);
}

void goals_lower(struct goals *g, struct node *node, enum goal_request request, const char *reason)
{
	bool changed;

	/* The nodes that require it always have a run that is ready. */
	if (request == REQUEST_RESTART && node->service && service_can_hand_over(node->service)) {
		if (!g->dry_run && goals_request(node, REQUEST_HANDOVER, g->cause)) {
			node_log(node, LOG_NOTICE, "hand-over: %s", reason);
			node_add_task(node, TASK_SUCCESSIONS);
		}
		return;
	}
	changed = g->dry_run || goals_request(node, request, g->cause);
	g->any = true;
	if (!g->dry_run && node->goal < GOAL_IDLE) {
		stop_latch(g->tree, node, g->usec, reason);
		changed |= deadline_limit(node, g->until_usec, g->usec);
		node_update_roster(node);
	}
	if (changed && list_is_empty(&node->in_batch))
		list_append(&g->lowered, &node->in_batch);
	if (node->complete && !g->dry_run)
		node_update_soon(node); /* a Complete node does not report its completion again */
}

/* Returns true if @node is stopped, or would be by the batch of a dry run. */
static bool goals_is_lowered(const struct node *node, const void *arg)
{
	bool lowered = node_is_stopped(node);

	for (; node && !lowered; node = node->parent)
		lowered = !list_is_empty(&node->in_batch);
	return lowered;
}

/* Returns true if @node goes on: it requires a template with @instance, and enough other instances are ready. */
static bool goals_has_enough_without(const struct goals *g, const struct node *node,
				     const struct node *instance)
{
	const struct others others =
		start_order_count_others(node->config, instance, goals_is_lowered, NULL);

	return others.present > 0 && others.present >= MIN(g->keep, others.able);
}

/* Stops or restarts, along with @top, the nodes that require @node, which is @top or below it. */
static void goals_lower_dependents(struct goals *g, const struct node *top, const struct node *node)
{
	enum goal_request request = top->goal == GOAL_CYCLE ? REQUEST_CYCLE : REQUEST_STOP;
	char reason[CONFIG_NAME_MAX + 20];

	(void)snprintf(reason, sizeof(reason), "requires %s", node_name(node));
	for (struct node *const *to = node_edges(node, LIST_DEPENDENTS); to && *to; to++) {
		bool was_stopped = goals_is_lowered(*to, NULL);

		/* Nodes below @top share its effective goal; an idle node has nothing to stop. */
		if ((*to)->goal == GOAL_IDLE || node_is_within(*to, top) ||
		    !node_has_edge(*to, EDGE_REQUIRES, node) || goals_has_enough_without(g, *to, node))
			continue;
		goals_lower(g, *to, request, reason);
		if (g->on_dependent && !was_stopped)
			g->on_dependent(*to, g->arg);
	}
}

static void goals_lower_all_dependents(struct goals *g, const struct node *top)
{
	const struct node *next;

	for (const struct node *n = top; n; n = next) {
		bool was_down = n != top && n->goal <= GOAL_DOWN;

		if (!was_down)
			goals_lower_dependents(g, top, n);
		next = was_down ? node_next_beside(n, top) : node_next(n, top);
	}
}

void goals_commit(struct goals *g)
{
	enum goal_cause cause = g->cause;
	struct node *node;

	if (!g->any)
		return;
	if (g->dry_run) {
		list_for_each (node, &g->lowered, in_batch)
			goals_lower_all_dependents(g, node);
		list_for_each_taken (node, &g->lowered, in_batch)
			continue;
		return;
	}
	/* A stop for memory, or for the sleep of the host, ends for all of them at once. */
	if (cause != CAUSE_PRESSURE && cause != CAUSE_SLEEP)
		g->cause = CAUSE_DEPENDENCY;
	list_for_each_taken (node, &g->lowered, in_batch)
		goals_lower_all_dependents(g, node);
	g->cause = cause;
	stop_commit(g->tree);
}

void goals_lower_one(struct tree *tree, struct node *node, enum goal_cause cause,
		     enum goal_request request, const char *reason)
{
	struct goals g;

	goals_begin(&g, tree, cause);
	goals_lower(&g, node, request, reason);
	goals_commit(&g);
}

/* Writes the rows of @top and all below it, as each has the deadline of its node. */
static void goals_enter_all(struct node *top)
{
	for (struct node *n = top; n; n = node_next(n, top))
		node_update_roster(n);
}

uint64_t goals_extend(struct node *node, uint64_t usec)
{
	uint64_t added = deadline_extend(node, usec);

	goals_enter_all(node);
	return added;
}

bool goals_hold(struct node *root, bool hold)
{
	bool done = true;

	if (!hold)
		deadline_release(root, "by request");
	else if (!root->ctx->held_usec)
		done = deadline_hold(root, clock_now_usec());
	goals_enter_all(root);
	return done;
}

/* --- up --- */

/* The goal of @node or of descendants has risen: stopped ones begin a new generation. */
static void goals_note_raised(struct node *node)
{
	node_add_task(node, TASK_RENEWALS);
	for (struct node *n = node; n; n = node_next(n, node)) {
		if (n->service)
			service_note_goal(n->service);
	}
}

void goals_add(struct goals *g, struct node *node)
{
	(void)goals_request(node, REQUEST_ADD, g->cause);
	if (node->config->argv && !node_starts_by_itself(node, node->config))
		(void)goals_request(node, REQUEST_REST, g->cause);
	goals_note_raised(node);
}

void goals_complete(struct node *node)
{
	if (goals_request(node, REQUEST_COMPLETE, node->cause))
		goals_note_raised(node);
}

void goals_forget_restarts(struct node *node)
{
	for (struct node *n = node; n; n = node_next(n, node)) {
		if (!n->service)
			continue;
		policy_forget(n->service->policy);
		n->service->restarts = 0;
		n->service->not_before_usec = 0;
		service_update_soon(n->service);
	}
}

/*
 * The outcome of its last run does not keep a service from starting; a finished oneshot stays done, unless
 * it is to run again: a scheduled one that is @named, too.  Two services that start each other cost little.
 */
static void goals_reset(struct service *s, bool again, bool named)
{
	bool is_done = s->state == STATE_DONE || s->state == STATE_FAILED;

	if (again && is_done)
		s->not_before_usec = clock_add(s->since_usec, s->config->restart_delay_usec);
	if (s->state == STATE_BACKOFF || service_is_skipped(s) ||
	    (is_done && (again || (named && s->node->timetable) || s->state == STATE_FAILED ||
			 s->config->type != TYPE_ONESHOT)))
		service_post(s, EVENT_RESET);
}

void goals_raise(struct node *node, enum goal_request request, enum goal_cause cause)
{
	(void)goals_request(node, request, cause);
	goals_note_raised(node);
}

void goals_make_idle(struct node *node)
{
	(void)goals_request(node, REQUEST_REST, node->cause);
	service_note_goal(node->service);
}

/* Dependents go on, as they need only the sockets of @node. */
void goals_retire(struct tree *tree, struct node *node, const char *reason)
{
	(void)goals_request(node, REQUEST_REST, node->cause);
	stop_latch(tree, node, clock_now_usec(), reason);
	stop_commit(tree);
	goals_note_raised(node);
}

/* --- requests: the nodes to raise --- */

static bool goals_is_startable(const struct node *node)
{
	if (node_root(node)->goal == GOAL_DOWN)
		return false;
	while (node && node->goal != GOAL_GONE)
		node = node->parent;
	return !node;
}

/* Returns true if @node, or a service that starts with it, does not come back by itself. */
static bool goals_is_missing(const struct node *node)
{
	return (!start_order_is_satisfied(node) || node->counts.excused > 0) &&
	       node_goal(node) != GOAL_CYCLE;
}

/*
 * Adds the missing targets of @edge to @selected.  Return: 0; -ESHUTDOWN if a required one is
 * going.
 */
static int goals_select_needed(struct list *selected, const struct node *node, enum edge edge)
{
	for (struct node *const *to = node_edges(node, edge); to && *to; to++) {
		bool startable = goals_is_startable(*to);

		if (!startable && edge == EDGE_REQUIRES)
			return -ESHUTDOWN;
		if (startable && goals_is_missing(*to) && list_is_empty(&(*to)->in_batch))
			list_append(selected, &(*to)->in_batch);
	}
	return 0;
}

/* Selects @node and all that it needs, directly or not.  Return: 0 or -ESHUTDOWN. */
static int goals_select(struct list *selected, struct node *node)
{
	struct node *top;
	int r = goals_is_startable(node) ? 0 : -ESHUTDOWN;

	list_append(selected, &node->in_batch);
	list_for_each (top, selected, in_batch)
		for (struct node *n = top; r == 0 && n; n = node_next(n, top)) {
			if (!n->service || n->goal == GOAL_GONE || !start_order_is_meant(n, top))
				continue;
			for (const struct node *up = n; r == 0 && up; up = up->parent) {
				r = goals_select_needed(selected, up, EDGE_REQUIRES);
				if (r == 0)
					r = goals_select_needed(selected, up, EDGE_WANTS);
			}
		}
	return r;
}

/* The stopped groups above @node run again; their stop moves to their other members. */
static void goals_raise_parents(struct node *node, enum goal_cause cause)
{
	struct node *highest = NULL, *n;
	enum goal_cause stop;

	for (struct node *above = node->parent; above; above = above->parent)
		if (above->goal == GOAL_DOWN)
			highest = above;
	stop = highest ? highest->cause : cause;
	for (; highest && node != highest; node = node->parent) {
		list_for_each (n, &node->parent->children, sibling)
			if (n != node)
				goals_write(n, goal_next(n->goal, REQUEST_STOP), stop);
		(void)goals_request(node->parent, REQUEST_START, cause);
	}
	if (highest)
		goals_note_raised(highest);
}

/* Returns true if the sockets of @n were closed because its service has failed. */
static bool goals_has_failed_on_demand(const struct node *n)
{
	return n->service && n->service->state == STATE_FAILED && service_is_on_demand(n->service);
}

/* Members that start with @top are raised; the others of a stopped group become idle. */
static void goals_raise_members(struct node *top, enum goal_cause cause, bool again)
{
	bool was_down = node_goal(top) <= GOAL_DOWN;

	goals_raise_parents(top, cause);
	for (struct node *n = top; n; n = node_next(n, top)) {
		if (start_order_is_meant(n, top)) {
			(void)goals_request(n, REQUEST_START, cause);
			if (n->service)
				goals_reset(n->service, again, n == top);
		} else if (was_down || n->goal == GOAL_DOWN || goals_has_failed_on_demand(n)) {
			(void)goals_request(n, REQUEST_REST, cause);
			if (goals_has_failed_on_demand(n))
				goals_reset(n->service, again, false);
		}
	}
}

int goals_start(struct node *node, enum goal_cause cause, bool again)
{
	struct list selected;
	struct node *top;
	int r;

	list_init(&selected);
	r = goals_select(&selected, node);
	list_for_each_taken (top, &selected, in_batch) {
		if (r < 0)
			continue;
		goals_forget_restarts(top);
		goals_raise_members(top, cause, again);
		goals_note_raised(top);
	}
	return r;
}

int goals_restart(struct goals *g, struct node *node, const char *reason)
{
	int r = goals_start(node, g->cause, false);

	if (r < 0)
		return r;
	goals_lower(g, node, REQUEST_RESTART, reason);
	return 0;
}

/* --- starts by need --- */

static bool goals_need_nodes(struct node *const *nodes)
{
	bool any = false;

	for (; nodes && *nodes; nodes++) {
		if (!(*nodes)->service || node_goal(*nodes) != GOAL_IDLE ||
		    service_is_listening((*nodes)->service) ||
		    !goals_request(*nodes, REQUEST_NEED, CAUSE_DEPENDENCY))
			continue;
		goals_note_raised(*nodes);
		any = true;
	}
	return any;
}

bool goals_need(const struct service *s)
{
	bool any = false;

	for (const struct node *n = s->node; n; n = n->parent) {
		any |= goals_need_nodes(node_edges(n, EDGE_REQUIRES));
		any |= goals_need_nodes(node_edges(n, EDGE_WANTS));
	}
	return any;
}

void goals_need_all(struct tree *tree)
{
	for (struct node *n = tree->root; n; n = node_next(n, tree->root))
		if (n->service && service_is_wanted(n->service))
			(void)goals_need(n->service);
}
