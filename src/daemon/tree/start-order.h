#pragma once

/*
 * The ordering edges of a start.  An edge A -> B (requires, wants or after) holds back every
 * service in A until B is ready (wants, after: or is not going to be).
 *
 * A requirement is present when its service is ready and has not ended by itself; a group is when
 * the services are that start with it.  What is blocked here, and by what, is derived anew in each
 * update turn.
 */

#include <stdbool.h>

#include "daemon/node/node.h"
#include "daemon/service/object.h"

/* The first node that keeps @service from starting, or NULL. */
struct node *start_order_blocker(const struct service *service);

/* The same, without saying which: it costs less where many are restarted together. */
bool start_order_is_blocked(const struct service *service);

/* Returns true if a requirement of @service is missing and will not come by itself. */
bool start_order_is_hopeless(const struct service *service);

/* The node at the end of the chain of missing requirements; NULL if @service is not blocked. */
struct node *start_order_culprit(const struct service *service);

/* Returns true if @node satisfies a requirement. */
bool start_order_is_satisfied(const struct node *node);

/* Returns true if @node is a group, or a service that starts with @top, which is or holds it. */
bool start_order_is_meant(const struct node *node, const struct node *top);
