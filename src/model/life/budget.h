#pragma once

/*
 * The times of a stop: the time that each step may take, so that all later steps fit into the
 * budget above.  Pure arithmetic: times are CLOCK_MONOTONIC in microseconds; USEC_INFINITY is
 * never, or without end.
 */

#include "base/std.h"

/* The time until SIGKILL is repeated: a process may have been forked during the last round. */
#define BUDGET_KILL_AGAIN_USEC USEC_PER_SEC
/*
 * The minimal time of a post-stop or a final, even with a spent budget: it then runs after a kill.
 */
#define BUDGET_LAST_USEC (2 * USEC_PER_SEC)
/* The time after the budget of the root until processes that survive SIGKILL are given up. */
#define BUDGET_ABANDON_USEC (5 * USEC_PER_SEC)

/*
 * Returns the budget of a shutdown if the parent manager kills after @grace_usec: the grace less a
 * margin of 5 %, which is at least a second but at most a third of the grace.
 */
uint64_t budget_of_grace(uint64_t grace_usec);

/*
 * Returns the end of a step that leaves the following step @wanted_usec before @deadline_usec; but
 * the following step gets at most a third of the time that remains at @now_usec.
 */
uint64_t budget_before(uint64_t deadline_usec, uint64_t now_usec, uint64_t wanted_usec);

/*
 * Returns the time before @deadline_usec to be reserved for a node that has @timeout_usec
 * afterwards. Its own deadline, @own_usec, may be later, and then needs less.
 */
uint64_t budget_needed(uint64_t timeout_usec, uint64_t deadline_usec, uint64_t own_usec);

struct stop_times {
	uint64_t began_usec; /* time of the stop signal */
	uint64_t idle_usec;  /* when the service was last busy since then; 0: never */
	bool busy;	     /* now */
	uint64_t stop_timeout_usec, drain_timeout_usec;
};

/*
 * Returns the time of the kill, without the budgets: stop-timeout after the stop signal, or after
 * the service became idle; while it is busy, drain-timeout after the stop signal.  Becoming busy
 * never makes the kill earlier, and the sum of both timeouts is the maximum.
 */
uint64_t budget_stop_limit(const struct stop_times *times);
