#pragma once

/*
 * The renewal of services that have become large or old (recycle-memory, recycle-age): a restart by the
 * daemon, which is no failure.  Of the instances of a template one is renewed at a time.
 */

#include "daemon/tree/tree.h"

/* TASK_RECYCLES: looks at the service of @node, if it is up, and sets the time of the next look. */
void recycle_process(struct tree *tree, struct node *node);
