#pragma once

/* Completion comes up: nodes whose last guard is dropped. */

#include "daemon/tree/tree.h"

/*
 * TASK_COMPLETIONS: final actions, nodes that have become Complete, and those without a section,
 * which are freed.  Returns true if the root has become Complete.
 */
bool completions_process(struct tree *tree);
