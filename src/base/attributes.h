#pragma once

/*
 * The attributes that a process runs with, beside its user, its groups and its directory.  Layer
 * model reads them from a configuration and layer sys applies them in a child; neither includes the
 * other.
 */

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

struct attributes {
	struct rlimit limits[RLIM_NLIMITS]; /* by RLIMIT_...; see attribute_limit_is_set() */
	cpu_set_t cpus;			    /* none: keep */
	uint64_t capabilities;	    /* to keep, as bits 1 << CAP_...; or CAPABILITIES_KEEP */
	int nice, oom_score_adjust; /* or ATTRIBUTE_KEEP */
	bool no_new_privileges;
	int io_priority; /* class and level for ioprio_set(2), or ATTRIBUTE_KEEP */
};

#define ATTRIBUTE_KEEP	  INT_MIN
#define CAPABILITIES_KEEP UINT64_MAX

/*
 * Keeps the limit of the parent.  A soft limit above the hard limit marks it: no real limit is so.
 */
#define LIMIT_KEEP                           \
	{                                    \
		.rlim_cur = 1, .rlim_max = 0 \
	}

static inline bool attribute_limit_is_set(const struct rlimit *limit)
{
	return limit->rlim_cur <= limit->rlim_max;
}

/* Keeps all attributes of the parent. */
#define ATTRIBUTES_NONE                                                            \
	{                                                                          \
		.limits = { [0 ... RLIM_NLIMITS - 1] = LIMIT_KEEP },               \
		.capabilities = CAPABILITIES_KEEP, .nice = ATTRIBUTE_KEEP,         \
		.oom_score_adjust = ATTRIBUTE_KEEP, .io_priority = ATTRIBUTE_KEEP, \
	}
