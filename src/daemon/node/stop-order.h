#pragma once

/*
 * The ordering edges of a stop.  An edge A -> B (requires, wants or after) holds back all stop
 * signals in B while a generation of A or of a descendant is stopped and not Complete.
 */

#include "daemon/node/node.h"

/* Returns the first node that holds back the stop signals in @node, or NULL. */
struct node *stop_order_blocker(const struct node *node);

/*
 * Returns the longest stop-timeout of the nodes with stop signals that wait for @node; 0 if none.  If
 * the budget of such a node ends later than that of @node, the difference is subtracted.  Nodes of a
 * lower rank do not count.
 */
uint64_t stop_order_followers_timeout(const struct node *node);

/* Lists of the nodes that get their stop signal after a node. */
#define STOP_ORDER_LISTS 4
extern const size_t stop_order_follow[STOP_ORDER_LISTS];
