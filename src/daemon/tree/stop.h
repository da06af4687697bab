#pragma once

/* Latches stops that daemon/tree/goals.h decides on. */

#include "daemon/tree/tree.h"

/* Latches the stop on the subtree of @top at @now, unless @top is stopped.  @reason is logged. */
void stop_latch(struct tree *tree, struct node *top, uint64_t now, const char *reason);

/* Puts the services of a latched batch on the agenda of the update turn. */
void stop_commit(struct tree *tree);

/* Drops all guards below the root: the last resort when processes have survived SIGKILL. */
void stop_abandon(struct tree *tree);
