#pragma once

/*
 * The ordering edges of a start.  An edge A -> B (requires, wants or after) blocks every service in
 * A until B is ready; with wants and after, until B is ready or is not going to be.
 *
 * A requirement is present if its service is ready and has not ended by itself; a group is present
 * if all services are that start with it, without those that a request has stopped, and a template
 * likewise.  Blocked services and their blockers are derived anew in
 * each update turn.
 */

#include <stdbool.h>

#include "daemon/node/node.h"
#include "daemon/service/object.h"

/* Returns the first node that keeps @service from starting, or NULL. */
struct node *start_order_blocker(const struct service *service);

/*
 * Returns true if a node keeps @service from starting.  This is cheaper than start_order_blocker()
 * when many services of a group restart.
 */
bool start_order_is_blocked(const struct service *service);

/* Returns true if a requirement of @service is missing and nothing under way will bring it back. */
bool start_order_has_lost_requirement(const struct service *service);

/*
 * Returns the node at the end of the chain of missing requirements; NULL if @service is not
 * blocked.
 */
struct node *start_order_culprit(const struct service *service);

/* Returns true if @node satisfies a requirement. */
bool start_order_is_satisfied(const struct node *node);

/*
 * Returns the number of nodes that @node requires by the same template as @instance, without this,
 * and that satisfy the requirement; those that @is_leaving names do not.  *all gets the number of
 * these nodes that a request has not stopped.  Both are 0 if @node requires @instance by its name.
 */
size_t start_order_count_others(const struct node *node, const struct node *instance,
				bool (*is_leaving)(const struct node *node), size_t *all);

/* Returns true if @node is a group or a service that starts with @top, its ancestor or itself. */
bool start_order_is_meant(const struct node *node, const struct node *top);
