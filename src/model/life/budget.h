#pragma once

/*
 * The times of an ending: who has how long, so that all that is still to come fits into the budget
 * above it.  Arithmetic only: points in time and durations are CLOCK_MONOTONIC microseconds, and
 * USEC_INFINITY is never, or without end.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

/* SIGKILL again after this: a process may have been made while the last one was sent. */
#define BUDGET_KILL_AGAIN_USEC USEC_PER_SEC
/*
 * What a post-stop or a final has at least, also when a budget is spent: then it comes after a
 * kill.
 */
#define BUDGET_LAST_USEC (2 * USEC_PER_SEC)
/* After its budget the root has been killed; what is left after this much more cannot be killed. */
#define BUDGET_ABANDON_USEC (5 * USEC_PER_SEC)

/*
 * What is for the shutdown if whoever supervises us kills after @grace_usec: that less a margin of
 * 5 %, which is a second at least, but never more than a third.
 */
uint64_t budget_of_grace(uint64_t grace_usec);

/*
 * Until when something may last if what follows it is to have @wanted_usec before @deadline_usec;
 * that has no more than a third of what is left at @now_usec.
 */
uint64_t budget_before(uint64_t deadline_usec, uint64_t now_usec, uint64_t wanted_usec);

/*
 * What somebody who has @timeout_usec once something is over, at @deadline_usec at the latest,
 * needs of that time: his own deadline may be later.
 */
uint64_t budget_needed(uint64_t timeout_usec, uint64_t deadline_usec, uint64_t his_usec);

struct stop_times {
	uint64_t began_usec; /* when it was asked to end */
	uint64_t idle_usec;  /* when it was last busy since then; 0: never */
	bool busy;	     /* it is now */
	uint64_t stop_timeout_usec, drain_timeout_usec;
};

/*
 * When it is killed, but for the budgets: stop-timeout after it was asked to end or became idle;
 * drain-timeout after it was asked while it is busy.  Becoming busy never makes that earlier, and
 * both together are the most there is, however often that happens.
 */
uint64_t budget_stop_limit(const struct stop_times *times);
