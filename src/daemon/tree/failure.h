#pragma once

/* The effect of a failed service on others: the strategy of its group, and on-failed. */

#include "daemon/tree/tree.h"

/* TASK_FAILURES: handles ended runs of services that are restarted or were given up. */
void failures_process(struct tree *tree);
