#include "daemon/order.h"

#include "base/clock.h"
#include "base/macro.h"
#include "daemon/final.h"
#include "daemon/service-notify.h"
#include "model/budget.h"

/* So many starts a turn: whoever asks something meanwhile is not to wait for all of them. */
#define STARTS_PER_TURN 32

static bool is_settled(const struct node *node)
{
	return node->settled == node->services;
}

/*
 * The first node that @service, or a node around it, requires and that is not ready, or NULL.  What
 * is stopped is not, also if nothing in it was to run.
 */
static struct node *find_missing(const struct service *service)
{
	for (const struct node *n = service->node; n; n = n->parent) {
		struct node *const *required = node_edges(n, EDGE_REQUIRES);

		for (; required && *required; required++)
			if (!node_is_ready(*required) || node_is_stopped(*required))
				return *required;
	}
	return NULL;
}

static struct node *find_unsettled(struct node *const *nodes)
{
	for (; nodes && *nodes; nodes++)
		if (!is_settled(*nodes))
			return *nodes;
	return NULL;
}

/* The first of @node's children that has not ended, of those that a strategy restarts, or NULL. */
static struct node *find_ending(struct node *node)
{
	while (!list_is_empty(&node->ending)) {
		struct node *first = list_entry(node->ending.next, struct node, in_ending);

		if (node_is_draining(first))
			return first;
		list_remove(&first->in_ending);
	}
	return NULL;
}

struct node *order_start_blocker(const struct service *service)
{
	struct node *missing = find_missing(service);

	if (missing)
		return missing;
	for (struct node *n = service->node; n; n = n->parent) {
		struct node *unsettled, *ending;

		/* What it did in an earlier generation is not over. */
		if (final_is_pending(n))
			return n;
		ending = service->together && n->parent ? find_ending(n->parent) : NULL;
		if (ending)
			return ending;
		unsettled = find_unsettled(node_edges(n, EDGE_WANTS));
		if (!unsettled)
			unsettled = find_unsettled(node_edges(n, EDGE_AFTER));
		if (unsettled)
			return unsettled;
	}
	return NULL;
}

static struct node *find_draining(struct node *const *nodes)
{
	for (; nodes && *nodes; nodes++)
		if (node_is_draining(*nodes))
			return *nodes;
	return NULL;
}

struct node *order_gate(const struct node *node)
{
	for (const struct node *n = node; n; n = n->parent) {
		struct node *draining = find_draining(node_edges(n, LIST_DEPENDENTS));

		if (!draining)
			draining = find_draining(node_edges(n, EDGE_TERM_AFTER));
		if (draining)
			return draining;
	}
	return NULL;
}

struct node *order_stop_blocker(const struct service *service)
{
	return order_gate(service->node);
}

static uint64_t longest_timeout(const struct node *node, struct node *const *nodes)
{
	uint64_t longest = 0;

	for (; nodes && *nodes; nodes++) {
		uint64_t needed = budget_needed((*nodes)->config->stop_timeout_usec,
						node->kill_usec, (*nodes)->kill_usec);

		if (node_is_stopped(*nodes) && !(*nodes)->complete && needed > longest)
			longest = needed;
	}
	return longest;
}

uint64_t order_followers_timeout(const struct node *node)
{
	uint64_t longest = 0;

	for (const struct node *n = node; n; n = n->parent) {
		struct node *const *const lists[] = { node_edges(n, EDGE_REQUIRES),
						      node_edges(n, EDGE_WANTS),
						      node_edges(n, EDGE_AFTER),
						      node_edges(n, LIST_FOLLOWERS) };

		for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
			uint64_t timeout = longest_timeout(node, lists[i]);

			longest = timeout > longest ? timeout : longest;
		}
	}
	return longest;
}

bool order_is_waiting(const struct service *service)
{
	return !fsm_has_process(service->state) && !list_is_empty(&service->in_waiting);
}

/* A service in @node that has failed, and is not about to be tried again; or NULL. */
static struct node *find_failed(struct node *node)
{
	for (struct node *n = node; n; n = node_next(n, node))
		if (n->service && n->service->state == STATE_FAILED &&
		    !order_is_waiting(n->service))
			return n;
	return NULL;
}

/* A service in @node that waits, most of all one that waits in vain, or NULL. */
static struct service *find_waiting(struct node *node)
{
	struct service *waiting = NULL;

	for (struct node *n = node; n; n = node_next(n, node)) {
		if (!n->service || !order_is_waiting(n->service))
			continue;
		if (n->service->in_vain)
			return n->service;
		if (!waiting)
			waiting = n->service;
	}
	return waiting;
}

struct node *order_find_stopped(struct node *node)
{
	for (struct node *n = node; n; n = node_next(n, node)) {
		if (!node_is_stopped(n) || n->restart || n->retired)
			continue;
		if (n == node || (n->service && service_tally(n->service).services > 0))
			return n;
	}
	return NULL;
}

/*
 * Follows what is missing, and what that misses in turn: requirements are no circle, so this ends.
 */
static struct node *follow_missing(const struct service *service,
				   struct node *(*find)(struct node *missing))
{
	while (service) {
		struct node *missing = find_missing(service);
		struct node *found = missing ? find(missing) : NULL;

		if (found || !missing)
			return found;
		service = find_waiting(missing);
	}
	return NULL;
}

struct node *order_failed_requirement(const struct service *service)
{
	return follow_missing(service, find_failed);
}

struct node *order_stopped_requirement(const struct service *service)
{
	return follow_missing(service, order_find_stopped);
}

static bool is_returning(const struct service *service)
{
	return service->node->restart && (service->was_wanted || service->config->autostart);
}

static void set_prospects(struct service *service, bool wanted, bool in_vain)
{
	struct service_tally before = service_tally(service);

	service->wanted = wanted;
	service->returning = !wanted && is_returning(service);
	service->in_vain = in_vain;
	service_retally(service, before);
	context_settle_soon(service->ctx);
}

/* It cannot start now.  Can it ever?  What only comes after it is not to wait for that. */
static void look_ahead(struct service *service)
{
	bool in_vain = service->ctx->failed > 0 && order_failed_requirement(service);

	if (in_vain != service->in_vain)
		set_prospects(service, service->wanted, in_vain);
}

void order_want(struct service *service)
{
	set_prospects(service, true, false);
	if (list_is_empty(&service->in_waiting))
		list_append(&service->ctx->waiting, &service->in_waiting);
}

void order_hold(struct service *service)
{
	service->was_wanted |= service->wanted;
	set_prospects(service, false, false);
	list_remove(&service->in_waiting);
	service_handle(service, EVENT_HOLD);
	service_notify_held(service); /* it may have been at rest, and to come back */
	if (service->state == STATE_GATED && list_is_empty(&service->in_gated))
		list_append(&service->ctx->gated, &service->in_gated);
}

/* After a failure of the group that it is in. */
static bool is_delayed(struct service *service)
{
	if (service->not_before_usec <= clock_now_usec())
		return false;
	if (service->state == STATE_DOWN && service->timeout_usec != service->not_before_usec) {
		service->timeout_usec = service->not_before_usec;
		alarm_set(&service->ctx->alarms, &service->timer, service->timeout_usec);
	}
	return true;
}

static void start_waiting(struct context *ctx)
{
	struct service *s, *next;
	int starts = 0;

	if (cgroups_is_draining(ctx->cgroups))
		return;
	list_for_each_safe (s, next, &ctx->waiting, in_waiting) {
		/* What still runs from before starts when that is gone. */
		if (fsm_has_process(s->state) && !fsm_is_coming_up(s->state) &&
		    s->state != STATE_UP)
			continue;
		if (s->not_before_usec && is_delayed(s))
			continue;
		if (order_start_blocker(s)) {
			look_ahead(s);
			continue;
		}
		if (starts++ == STARTS_PER_TURN) {
			context_settle_soon(ctx);
			return;
		}
		list_remove(&s->in_waiting);
		s->together = false;
		set_prospects(s, true, false);
		service_handle(s, EVENT_START);
	}
}

void order_release(struct context *ctx)
{
	struct service *s, *next;

	list_for_each_safe (s, next, &ctx->gated, in_gated) {
		if (s->state == STATE_GATED && order_stop_blocker(s))
			continue;
		list_remove(&s->in_gated);
		if (s->state == STATE_GATED)
			service_handle(s, EVENT_RELEASE);
	}
}

void order_pump(struct context *ctx)
{
	order_release(ctx);
	start_waiting(ctx);
}
