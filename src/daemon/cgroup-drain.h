#pragma once

/*
 * What a daemon that was killed has left in the place that is now ours: it is asked to end, and
 * then killed, and until it is gone cgroups_is_draining().
 */

#include "daemon/cgroup.h"

/* Return: 0, also if there is nothing, or -errno. */
int cgroup_drain_begin(struct cgroups *cgroups);

/* Somebody of it may have gone. */
void cgroup_drain_check(struct cgroups *cgroups);
