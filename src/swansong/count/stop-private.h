#pragma once

/* How a walk, and a stop, goes through a tree, under its lock.  See stop.c. */

#include "swansong/count/count-private.h"

/*
 * for (walk_begin(&w, top); w.at; walk_on(&w, true))
 *
 * @below: whether to go to the nodes below, too, on the way down.  Between two steps the lock may have
 * been passed on; then the walk is at a node that is in the tree now.
 */
void walk_begin(struct walk *w, struct swansong *top);
void walk_on(struct walk *w, bool below);

/* swansong_shut_down(). */
void node_stop_anywhere(struct swansong *s);

/* The same of a node that is pinned, and not in a signal handler. */
void node_shut_down(struct swansong *s);

/* With something that keeps the tree: does what a stop may not do in a signal handler. */
void tree_settle(struct tree *tree);

/* After the lock was left; see tree_leave(). */
void tree_catch_up(struct tree *tree);
