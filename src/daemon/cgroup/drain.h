#pragma once

/* Ends the processes that a killed daemon has left; cgroups_is_draining() until they are gone. */

#include "daemon/cgroup/delegation.h"

/* Begins; @cgroups may be NULL. */
void cgroup_drain_begin(struct cgroups *cgroups);
