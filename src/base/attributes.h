#pragma once

/*
 * What a process runs as, beside its user, its groups and its place.  A configuration says it and a
 * child does it on its way to the program: two layers that know this, and not each other.
 */

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>

struct attributes {
	struct rlimit limits[RLIM_NLIMITS]; /* by RLIMIT_...; see limit_is_set() */
	cpu_set_t cpus;			    /* none: keep */
	int nice, oom_score_adjust;	    /* or ATTRIBUTE_KEEP */
	int io_priority; /* class and level for ioprio_set(2), or ATTRIBUTE_KEEP */
};

#define ATTRIBUTE_KEEP INT_MIN

/* A soft limit above the hard one is none at all: keep what there is. */
#define LIMIT_KEEP ((struct rlimit){ .rlim_cur = 1, .rlim_max = 0 })

static inline bool limit_is_set(const struct rlimit *limit)
{
	return limit->rlim_cur <= limit->rlim_max;
}

/* Nothing is asked for. */
static inline void attributes_init(struct attributes *attributes)
{
	for (int i = 0; i < RLIM_NLIMITS; i++)
		attributes->limits[i] = LIMIT_KEEP;
	CPU_ZERO(&attributes->cpus);
	attributes->nice = ATTRIBUTE_KEEP;
	attributes->oom_score_adjust = ATTRIBUTE_KEEP;
	attributes->io_priority = ATTRIBUTE_KEEP;
}
