#pragma once

/* Processes that an earlier daemon has left because it was killed. */

#include "daemon/tree/tree.h"

/*
 * Logs how many processes of services of @tree run already, and names some: each service that is
 * started runs beside them.  They are found by SWANSONG_NODE, so only where there are no control
 * groups: processes in those are ended before the services start.
 */
void survivors_warn(const struct tree *tree);
