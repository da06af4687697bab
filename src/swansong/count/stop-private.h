#pragma once

/* Walks through a tree, under its lock, and how a stop goes through it.  See stop.c. */

#include "swansong/count/count-private.h"

static inline struct swansong *node_beside(const struct swansong *n)
{
	if (n->sibling.next == &n->parent->children)
		return NULL;
	return list_entry(n->sibling.next, struct swansong, sibling);
}

static inline struct swansong *node_first_child(const struct swansong *n)
{
	if (list_is_empty(&n->children))
		return NULL;
	return list_entry(n->children.next, struct swansong, sibling);
}

/* The node after @n and all below it, parents first. */
static inline struct swansong *node_after(const struct swansong *n, const struct swansong *top)
{
	for (; n != top; n = n->parent) {
		struct swansong *beside = node_beside(n);

		if (beside)
			return beside;
	}
	return NULL;
}

/* The node after @n, parents first. */
static inline struct swansong *node_below_or_after(const struct swansong *n,
						   const struct swansong *top)
{
	struct swansong *first = node_first_child(n);

	return first ? first : node_after(n, top);
}

/* The same; what is below a stopped node is left out. */
static inline struct swansong *node_next(const struct swansong *n, const struct swansong *top)
{
	struct swansong *first = count_is_stopped(n) ? NULL : node_first_child(n);

	return first ? first : node_after(n, top);
}

/* The node where a walk of the subtree of @n begins that has children first. */
static inline struct swansong *node_lowest(struct swansong *n)
{
	struct swansong *first;

	while (!count_is_stopped(n) && (first = node_first_child(n)))
		n = first;
	return n;
}

/* swansong_shut_down(). */
void node_stop_anywhere(struct swansong *s);

/* The same of a node that is pinned, and not in a signal handler. */
void node_shut_down(struct swansong *s);

/* With something that keeps the tree: does what a stop may not do in a signal handler. */
void tree_settle(struct tree *tree);

/* After the lock was left; see tree_leave(). */
void tree_catch_up(struct tree *tree);
