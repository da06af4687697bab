#pragma once

/*
 * Services that are stopped while memory is short, and start again (key pressure-stop).  Those that run in the node with the
 * lowest stop-rank are stopped together, never those with the highest one of the tree.  If memory is still short when
 * these are Complete, the next follow.  When it is over, those with the highest rank start again, then the others,
 * one rank after the other.
 *
 * Their goal is DOWN by CAUSE_PRESSURE, which the next image of the daemon finds.  A request by hand, or a stop of a
 * node that they require, replaces that goal: such services are not started again.
 */

#include "daemon/tree/tree.h"

/*
 * Stops the services with on-sleep = stop, and with them their dependents, until each client that has called the first
 * has called the second.  After a fault of the daemon they start at once, until the client calls again.  As above, a
 * request by hand replaces that goal.
 */
void relief_begin_sleep(struct tree *tree);
void relief_end_sleep(struct tree *tree);

/* TASK_PRESSURES: memory is short or is not any more, or the section of @node may have changed. */
void relief_process(struct tree *tree, struct node *node);
