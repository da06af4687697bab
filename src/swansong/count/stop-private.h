#pragma once

/* Walking through a tree and stopping it, under its lock.  See stop.c. */

#include "swansong/count/count-private.h"

/*
 * for (walk_begin(&w, top); w.at; walk_on(&w, true))
 *
 * @below: true to go to the nodes below, too, on the way down.  Between two steps the lock may have
 * been passed on; then the walk is at a node that is in the tree now.
 */
void walk_begin(struct walk *w, struct swansong *top);
void walk_on(struct walk *w, bool below);

/* swansong_shut_down(): for any thread, also in a signal handler. */
void node_stop_anywhere(struct swansong *s);

/* swansong_shut_down() of a node that is pinned, and not in a signal handler. */
void node_shut_down(struct swansong *s);

/*
 * Does the work that a stop may not do in a signal handler.  The caller has a reference or a pin
 * that keeps the tree.
 */
void tree_settle(struct tree *tree);

/* Stops the deferred nodes, after the lock was left; see tree_leave(). */
void tree_catch_up(struct tree *tree);
