#pragma once

/*
 * The ordering edges of a stop.  An edge A -> B (requires, wants or after) holds back every signal
 * in B while a generation of A, or of a node in A, is stopped and not Complete.
 */

#include "daemon/node/node.h"

/* The first node that holds back the signals in @node, or NULL. */
struct node *stop_order_blocker(const struct node *node);

/*
 * The longest stop-timeout of the nodes whose signals wait for @node, as far as the budget of each
 * does not reach beyond that of @node anyway; 0 if there is none.
 */
uint64_t stop_order_followers_timeout(const struct node *node);
