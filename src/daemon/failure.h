#pragma once

/*
 * What the end of one service does to others: the strategy of the node that it is directly in, and
 * on-failed.
 */

#include "daemon/service.h"
#include "daemon/tree.h"

/*
 * The run of @service is over, and it is to be restarted or was given up: looked at in the next
 * turn.
 */
void failure_note(struct service *service);

/* Does it end the tree that @service is given up? */
bool failure_is_fatal(const struct service *service);

/* Looks after what was noted since the last time. */
void failure_follow(struct tree *tree);
