#pragma once

/*
 * Usage of processes: of a control group as the kernel counts it, else summed up over the processes
 * that /proc shows.  Nothing but files of /proc and of the control groups is read, so the figures
 * of another user's processes may be unknown.
 */

#include "sys/process/snapshot.h"

#define USAGE_UNKNOWN UINT64_MAX
#define USAGE_PRESSURE_USEC UINT64_C(2000000) /* the period in which the kernel adds up pressure for any user */

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

/*
 * The memory of these processes, of which shared memory is divided among its users.  The kernel may wait for
 * one of them.  Return: 0 or -errno.
 */
int usage_proportional(pid_t main, const char *group, uint64_t *ret);

/*
 * The same as usage_of(), and reads no more of /proc than the processes of its control group; without one those
 * that descend from @main, and not those of its session that have lost their parents.
 */
int usage_of_one(pid_t main, pid_t daemon, const char *group, struct usage *ret);

/*
 * Opens @path in @dir, a file of the kernel about pressure, which has EPOLLPRI when processes have waited for
 * @stall_usec of USAGE_PRESSURE_USEC.  Return: a descriptor or -errno.
 */
int usage_watch_pressure(int dir, const char *path, uint64_t stall_usec);

/* The time for which processes have waited so far.  Return: 0 or -errno. */
int usage_read_pressure(int fd, uint64_t *ret);
