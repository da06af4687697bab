#pragma once

/* The effect of a failed service on others: the strategy of its group, and on-failed. */

#include "daemon/tree/tree.h"

/* TASK_FAILURES: runs that are over, of services that are to be restarted or were given up. */
void failures_process(struct tree *tree);
