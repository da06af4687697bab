#pragma once

/* The completion of nodes: the effects of the release of their last guard. */

#include "daemon/tree/tree.h"

/*
 * TASK_COMPLETIONS: begins final actions, marks nodes as Complete, and frees those that have no
 * section.  Returns true if the root has become Complete.
 */
bool completions_process(struct tree *tree);
