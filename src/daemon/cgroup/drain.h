#pragma once

/* Processes of a killed daemon are ended first; until then cgroups_is_draining(). */

#include "daemon/cgroup/cgroup.h"

/* @cgroups may be NULL. */
void cgroup_drain_begin(struct cgroups *cgroups);
