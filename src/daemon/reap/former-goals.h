#pragma once

/* The goals of nodes after a fault of the daemon. */

#include "daemon/tree/tree.h"

/* Gives the nodes of @tree the goals of before.  All that holds a guard must be found before. */
void former_goals_take(struct tree *tree);
