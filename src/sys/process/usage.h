#pragma once

/*
 * Usage of processes: of a control group as the kernel counts it, else summed up over the processes
 * that /proc shows.  Nothing but files of /proc and of the control groups is read, so the figures
 * of another user's processes may be unknown.
 */

#include <stdint.h>
#include <sys/types.h>

#include "sys/process/snapshot.h"

#define USAGE_UNKNOWN UINT64_MAX

/* Adds @value to *sum, which is unknown if one of both is. */
void usage_add(uint64_t *sum, uint64_t value);

struct usage {
	uint64_t cpu_usec; /* of processor time so far */
	uint64_t memory;   /* bytes; of several processes, shared memory may count twice */
	uint64_t processes;
	uint64_t descriptors; /* open ones */
};

/*
 * Usage of @main with all in its control group, if that is called @group, else with those that are
 * of its session or descend from it.  @main has to descend from @daemon or its keeper: else its
 * number is that of another process, as in another namespace.
 *
 * Return: 0; -ESRCH if @main is no such process; or -errno.
 */
int usage_of(const struct snapshot *snapshot, pid_t main, pid_t daemon, const char *group,
	     struct usage *ret);

/* The same, and reads no more of /proc than the processes of its control group, if it has that. */
int usage_of_one(pid_t main, pid_t daemon, const char *group, struct usage *ret);
