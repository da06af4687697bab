/*
 * A stop runs against the edges of a start: a node waits for its dependents (LIST_DEPENDENTS), and
 * for the nodes that its own term-after names.  A node is blocked by the edges of its ancestors,
 * too.  The count `draining` of a node saves a walk over its subtree.
 */
#include "daemon/node/stop-order.h"

#include "base/macro.h"
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

		if (node_is_stopped(*nodes) && !(*nodes)->complete && needed > longest)
			longest = needed;
	}
	return longest;
}

uint64_t stop_order_followers_timeout(const struct node *node)
{
	uint64_t longest = 0;

	for (const struct node *n = node; n; n = n->parent) {
		struct node *const *const lists[] = { node_edges(n, EDGE_REQUIRES),
						      node_edges(n, EDGE_WANTS),
						      node_edges(n, EDGE_AFTER),
						      node_edges(n, LIST_FOLLOWERS) };

		for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
			uint64_t timeout = stop_order_longest_timeout(node, lists[i]);

			longest = timeout > longest ? timeout : longest;
		}
	}
	return longest;
}
