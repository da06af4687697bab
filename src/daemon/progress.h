#pragma once

/*
 * Does a stop of the whole tree get on, or does it only wait for somebody who may be hung?  Whoever
 * supervises us is asked for more time in the first case only.
 */

#include "daemon/tree.h"

/*
 * Is there work that the end waits for: a guard from outside, a command, a drain-delay?  What gets
 * on without any counts in context.changes.
 */
bool progress_is_expected(const struct tree *tree);
