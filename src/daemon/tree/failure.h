#pragma once

/*
 * The effect of a service that has ended by itself on others: on those that are bound to it, by the strategy
 * of its group, and by on-failed.
 */

#include "daemon/tree/tree.h"

/* TASK_FAILURES: handles the run of the service of @node, which has ended by itself. */
void failure_process(struct tree *tree, struct node *node);
