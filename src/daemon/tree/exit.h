#pragma once

/*
 * The effect of ended services on the tree: exit-when, essential, success-status.  The result is in
 * struct ends.
 */

#include "daemon/tree/tree.h"

/* Returns true if there is an essential service. */
bool exit_has_essential(const struct tree *tree);

/* TASK_ENDS: stops the tree if a service has ended with which it ends. */
void exit_update(struct tree *tree);

/*
 * With exit-when = all: stops the tree if all services that count have ended.  It must be called
 * after all starts of the turn.
 */
void exit_update_last(struct tree *tree);
