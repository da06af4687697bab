/*
 * Nothing is stored about blocked services: each call walks the edges of the service and of its
 * ancestors, and answers from the counts that each node keeps of its subtree (struct counts).  The
 * order of the checks is requirements, pending final actions, wants, after.
 */
#include "daemon/tree/start-order.h"

/* A request has stopped all services that start with @node, one by one. */
static bool start_order_is_emptied(const struct node *node)
{
	return node->counts.members == 0 && node->counts.excused > 0;
}

bool start_order_is_satisfied(const struct node *node)
{
	return !node_is_stopped(node) && node->counts.present == node->counts.members &&
	       !start_order_is_emptied(node) &&
	       (!node->service || service_is_present(node->service));
}

/* Returns true if @node does not satisfy a requirement and nothing under way will change that. */
static bool start_order_is_lost(const struct node *node)
{
	const struct service *s = node->service;

	return node_goal(node) <= GOAL_DOWN || node->counts.lost > 0 ||
	       start_order_is_emptied(node) ||
	       (s && service_is_resolved(s) && !service_is_present(s));
}

struct others start_order_count_others(const struct node_config *node, const struct node *instance,
				       bool (*is_leaving)(const struct node *node, const void *arg),
				       const void *arg)
{
	const char *template = config_required_template(node, instance->config->path);
	struct others others = { 0 };
	const struct node *n;

	/* The instances are children of the same node. */
	list_for_each (n, &instance->parent->children, sibling) {
		if (!template || n == instance || !config_is_instance(n->config->path, template) ||
		    start_order_is_lost(n))
			continue;
		others.able++;
		others.present +=
			start_order_is_satisfied(n) && (!is_leaving || !is_leaving(n, arg));
	}
	return others;
}

/*
 * Returns true if @node does not need @to, an instance of a template that it requires: it does not come, and
 * another one does.  Instances can replace each other, but not oneshots, which have different work.
 */
static bool start_order_is_excused(const struct node *node, const struct node *to)
{
	bool is_work = to->service && to->service->config->type == TYPE_ONESHOT;

	if (!node_is_stopped_by_request(to) && (is_work || !start_order_is_lost(to)))
		return false;
	return start_order_count_others(node->config, to, NULL, NULL).able > 0;
}

/* Returns the first node that @service or an ancestor requires and that is not present, or NULL. */
static struct node *start_order_find_missing(const struct service *service)
{
	for (const struct node *n = service->node; n; n = n->parent) {
		for (struct node *const *to = node_edges(n, EDGE_REQUIRES); to && *to; to++)
			if (!start_order_is_satisfied(*to) && !start_order_is_excused(n, *to))
				return *to;
	}
	return NULL;
}

/*
 * Returns a node that is bound to @node and still ends with the earlier run of a service in it, or NULL.  A
 * predecessor, which was stopped before, may take its drain-timeout.
 */
static struct node *start_order_find_bound(const struct node *node)
{
	for (struct node *const *to = node_edges(node, LIST_DEPENDENTS); to && *to; to++)
		if ((*to)->draining > 0 && !node_is_aside(*to) &&
		    node_has_edge(*to, EDGE_BINDS_TO, node))
			return *to;
	return NULL;
}

static struct node *start_order_find_unresolved(struct node *const *nodes)
{
	for (; nodes && *nodes; nodes++)
		if ((*nodes)->counts.resolved < (*nodes)->counts.services)
			return *nodes;
	return NULL;
}

/* Returns the first node that blocks @service, apart from its restart group. */
static struct node *start_order_find_blocker(const struct service *service)
{
	struct node *blocker = start_order_find_missing(service);

	for (struct node *n = service->node; n && !blocker; n = n->parent) {
		/* The final action of an earlier generation has not ended. */
		if (final_is_pending(n))
			return n;
		blocker = start_order_find_bound(n);
		if (!blocker)
			blocker = start_order_find_unresolved(node_edges(n, EDGE_WANTS));
		if (!blocker)
			blocker = start_order_find_unresolved(node_edges(n, EDGE_AFTER));
	}
	return blocker;
}

/*
 * Returns the ancestor of @service with a strategy that restarts children, some of which are not
 * yet Complete; or NULL.
 */
static struct node *start_order_find_restart_group(const struct service *service)
{
	struct node *n = service->not_before_usec ? service->node->parent : NULL;

	while (n && n->cycling == 0)
		n = n->parent;
	return n;
}

struct node *start_order_blocker(const struct service *service)
{
	const struct node *group = start_order_find_restart_group(service);

	struct node *n;

	if (!group)
		return start_order_find_blocker(service);
	list_for_each (n, &group->children, sibling)
		if (node_is_cycled_by_strategy(n))
			return n;
	return NULL;
}

bool start_order_is_blocked(const struct service *service)
{
	return start_order_find_restart_group(service) || start_order_find_blocker(service);
}

const struct node *start_order_pacer(const struct service *service)
{
	const struct node *n = service->node;
	uint64_t most;

	for (; n; n = n->parent) {
		most = node_config_extras(n->config)->start_parallel;
		if (most > 0 && (uint64_t)n->counts.coming_up >= most)
			break;
	}
	return n;
}

bool start_order_has_lost_requirement(const struct service *service)
{
	const struct node *missing = start_order_find_missing(service);

	return missing && start_order_is_lost(missing);
}

static struct node *start_order_find_lost(struct node *top)
{
	for (struct node *n = top; n; n = node_next(n, top))
		if (n->service && start_order_is_meant(n, top) && start_order_is_lost(n))
			return n;
	return top;
}

/* The loop ends because requirements form no cycle. */
struct node *start_order_culprit(const struct service *service)
{
	struct node *culprit = NULL;

	while (service && start_order_has_lost_requirement(service)) {
		culprit = start_order_find_missing(service);
		if (node_goal(culprit) > GOAL_DOWN)
			culprit = start_order_find_lost(culprit);
		service = culprit->service && culprit->service->blocked ? culprit->service : NULL;
	}
	return culprit;
}

bool start_order_is_meant(const struct node *node, const struct node *top)
{
	return !node->config->argv || node == top || node_starts_by_itself(node, node->config);
}
