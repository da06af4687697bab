#pragma once

/*
 * The ordering edges of a stop.  An edge A -> B (requires, wants or after) holds back all stop
 * signals in B while a generation of A or of a descendant is stopped and not Complete.
 */

#include "daemon/node/node.h"

/* Returns the first node that holds back the stop signals in @node, or NULL. */
struct node *stop_order_blocker(const struct node *node);

/*
 * Returns the longest stop-timeout of the nodes whose stop signals wait for @node; 0 if none.  A
 * timeout counts only as far as the budget of that node does not end later than that of @node.
 */
uint64_t stop_order_followers_timeout(const struct node *node);
