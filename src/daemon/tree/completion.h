#pragma once

/* The completion of nodes: the effects of the release of their last guard. */

#include "daemon/tree/tree.h"

/* TASK_COMPLETIONS: begins the final action of @node, marks it as Complete, or frees it if it has no section. */
void completion_process(struct tree *tree, struct node *node);
