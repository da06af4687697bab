#pragma once

/* Carrying out a stop; daemon/tree/goals.h decides on it. */

#include "daemon/tree/tree.h"

/* Latches the stop on @top and all below it, unless it is stopped.  @reason is logged. */
void stop_latch(struct tree *tree, struct node *top, uint64_t now, const char *reason);

/* All stops of a batch are latched: the services follow in the update turn. */
void stop_follow(struct tree *tree);

/* Nothing helps: drops all guards below the root.  For the very end, when SIGKILL did not do. */
void stop_abandon(struct tree *tree);
