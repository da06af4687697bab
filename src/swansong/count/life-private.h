#pragma once

/* The end of nodes, and of the memory that others hold of them.  See life.c. */

#include "swansong/count/object-private.h"

/* Returns memory for a node, or NULL; *@shift is the value for its member "shift". */
struct swansong *node_memory(uint32_t *shift);
void node_free_memory(struct swansong *n);

/* Under the lock: latches the node, which is stopped or gone, so that each check for a stop sees it. */
void node_latch(struct swansong *n, struct aftermath *after);

/* Buries the dead nodes and calls the functions.  Not with a lock held, nor in a signal handler. */
void node_settle(struct aftermath *after);

/*
 * node_unpin() drops a pin (count_pin()); node_release() drops a hold on the memory of a node,
 * which may be dead.
 */
void node_unpin(struct swansong *n);
void node_release(struct swansong *n);

/*
 * Holds the memory of the node, and that of its tree, until node_release() and tree_release().  The
 * node is alive, or its memory is held.
 */
void node_hold(struct swansong *n);
void tree_release(struct tree *tree);
