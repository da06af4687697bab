/*
 * A stop runs against the edges of a start: a node waits for its dependents (LIST_DEPENDENTS), and
 * for the nodes that its own term-after names.  A node is blocked by the edges of its ancestors,
 * too.  The count `draining` of a node saves a walk over its subtree.
 */
#include "daemon/node/stop-order.h"

#include "model/life/budget.h"

static struct node *stop_order_find_draining(struct node *const *nodes)
{
	for (; nodes && *nodes; nodes++)
		if ((*nodes)->draining > 0)
			return *nodes;
	return NULL;
}

struct node *stop_order_blocker(const struct node *node)
{
	for (const struct node *n = node; n; n = n->parent) {
		struct node *draining = stop_order_find_draining(node_edges(n, LIST_DEPENDENTS));

		if (!draining)
			draining = stop_order_find_draining(node_edges(n, EDGE_TERM_AFTER));
		if (draining)
			return draining;
	}
	return NULL;
}

static uint64_t stop_order_longest_timeout(const struct node *node, struct node *const *nodes)
{
	uint64_t longest = 0;

	for (; nodes && *nodes; nodes++) {
		uint64_t needed = budget_needed((*nodes)->config->stop_timeout_usec,
						node->kill_usec, (*nodes)->kill_usec);

		/* A lower rank reserves nothing. */
		if (node_is_stopped(*nodes) && !(*nodes)->complete && needed > longest &&
		    (*nodes)->config->stop_rank >= node->config->stop_rank)
			longest = needed;
	}
	return longest;
}

const size_t stop_order_follow[STOP_ORDER_LISTS] = { EDGE_REQUIRES, EDGE_WANTS, EDGE_AFTER,
						     LIST_FOLLOWERS };

uint64_t stop_order_followers_timeout(const struct node *node)
{
	uint64_t longest = 0;

	for (const struct node *n = node; n; n = n->parent) {
		for (size_t i = 0; i < STOP_ORDER_LISTS; i++) {
			uint64_t timeout = stop_order_longest_timeout(
				node, node_edges(n, stop_order_follow[i]));

			longest = timeout > longest ? timeout : longest;
		}
	}
	return longest;
}
