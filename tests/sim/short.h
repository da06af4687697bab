#pragma once

/*
 * Shutdowns with half of the time that is needed at worst, of random trees with stop-priorities:
 *
 *	- no service has time after its stop signal in which those of higher ranks, which are signalled after it,
 *	  could not have theirs any more;
 *	- a service is killed before its stop-timeout only for services of its own rank or a higher one;
 *	- all have ended when the time is over.
 *
 * The rank is the stop-priority, or the highest of those that require the service, directly or not.
 */

#include "tests/sim/history.h"
#include "tests/sim/kernel.h"
#include "tests/sim/run.h"

/* Draws the history of @seed: a tree, and the operation short. */
void history_draw_short(struct history *history, uint64_t seed);

/* The operation: begins the shutdown. */
void short_begin(void);

/* As in promises.h; short_check_end() at the end of the daemon returns the number of those killed early. */
void short_init(void);
void short_check_turn(void);
void short_check_signal(const struct row *row, int signo);
unsigned short_check_end(void);
