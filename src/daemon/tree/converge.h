#pragma once

/*
 * Derives events of services from goals and states, in each update turn, regardless of their
 * causes.
 */

#include "daemon/tree/tree.h"

/* TASK_STOPS: holds the service of a stopped generation, and signals it if it may be signalled. */
void converge_stop(struct tree *tree, struct node *node);

/* TASK_RENEWALS: begins the next generation of stopped nodes that are to run. */
void converge_renewals(struct tree *tree);

/* TASK_STARTS: starts services that are to run and that no dependency blocks. */
void converge_starts(struct tree *tree);

/* Returns true if a service has had no outcome yet but is about to: the tree is still starting. */
bool converge_is_starting(const struct tree *tree);
