#pragma once

/*
 * The effect of the end of a service on the tree: exit-when, essential, success-status, with the
 * result in struct ends.
 */

#include "daemon/tree/tree.h"

/* Returns true if there is an essential service. */
bool exit_has_essential(const struct tree *tree);

/* TASK_ENDS: stops the tree if a service has ended whose end is that of the tree. */
void exit_follow(struct tree *tree);

/* With exit-when = all: stops the tree if all services that count have ended.  After all starts. */
void exit_follow_last(struct tree *tree);
