#pragma once

/* The end of nodes, and of what is held of them.  See life.c. */

#include "swansong/count/object-private.h"

/* Memory for a node, or NULL; @shift is to be its own. */
struct swansong *node_memory(uint32_t *shift);
void node_free_memory(struct swansong *n);

/* Under the lock: latches it, for all who see the stop, or that it is gone. */
void node_latch(struct swansong *n, struct aftermath *after);

/* Buries the dead and calls the functions.  No lock may be held; not in a signal handler. */
void node_settle(struct aftermath *after);

/* Drops a pin (count_pin()), or the hold on a dead node's memory that an interrupt has. */
void node_unpin(struct swansong *n);
void node_release(struct swansong *n);

/*
 * Holds the memory of the node, which lives or is held, and of its tree, as for node_release() and
 * tree_release().
 */
void node_hold(struct swansong *n);
void tree_release(struct tree *tree);
