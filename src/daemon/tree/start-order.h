#pragma once

/*
 * The ordering edges of a start.  An edge A -> B (requires, wants or after) blocks every service in
 * A until B is ready; with wants and after, until B is ready or is not going to be.
 *
 * A requirement is present if its service is ready and has not ended by itself; a group is present
 * if all services are that start with it, without those that a request has stopped.  Blocked services and
 * their blockers are derived anew in each update turn.
 */

#include "daemon/service/object.h"

/* Returns the first node that keeps @service from starting, or NULL. */
struct node *start_order_blocker(const struct service *service);

/*
 * Returns true if a node keeps @service from starting.  This is cheaper than start_order_blocker()
 * when many services of a group restart.
 */
bool start_order_is_blocked(const struct service *service);

/*
 * Returns the node in which so many services come up as its start-parallel allows, which @service waits
 * for, too; or NULL.  Services of the node start in the order in which they could.
 */
const struct node *start_order_pacer(const struct service *service);

/* Returns true if a requirement of @service is missing and nothing under way will bring it back. */
bool start_order_has_lost_requirement(const struct service *service);

/*
 * Returns the node at the end of the chain of missing requirements; NULL if @service is not
 * blocked.
 */
struct node *start_order_culprit(const struct service *service);
bool start_order_is_satisfied(const struct node *node);

/*
 * The rule for a node that requires a template: it starts when all instances are ready, except those that have
 * failed or are stopped if another one is ready or comes up; it goes on while enough of them are ready.
 * Requirements on a group, or by the name of an instance, are on all members.
 */
struct others {
	size_t able;	/* instances that are ready, or come up */
	size_t present; /* ready, and not leaving */
};

/*
 * Counts the instances beside @instance of the template by which @node requires it; none without one.
 * @is_leaving gets @arg; NULL: none is.
 */
struct others start_order_count_others(const struct node_config *node, const struct node *instance,
				       bool (*is_leaving)(const struct node *node, const void *arg),
				       const void *arg);

/* Returns true if @node is a group or a service that starts with @top, its ancestor or itself. */
bool start_order_is_meant(const struct node *node, const struct node *top);
