#pragma once

/*
 * A fault of the daemon itself: a signal such as SIGSEGV, or SIGABRT from a watchdog when the loop
 * hangs, or from the C library when memory is corrupt.
 *
 * The daemon executes itself again, in the same process (sys/spawn/crash.h).  The services are its
 * children still, and go on if they can; the others are stopped in the order of the tree, and start again
 * (daemon/reap/survivors.h).  After many faults within a minute it kills all its
 * descendants but the logger, waits a second for what that has to write, and dies of the signal.
 */

#include "base/log.h"
#include "sys/spawn/crash-history.h"
#include "sys/spawn/keeper.h"

/*
 * Takes over the signals of the process, as signals_take_over() does, and catches faults from now on.
 * @argv is the command line.  *history is a file that the next image has, or -1.  The reason of this
 * start, in *read, is logged.  A rehearsal catches no faults.
 */
void fault_begin(struct signals *was, char *const *argv, struct log *log, int *history,
		 struct crash_history *read);

/* Lets a keeper go on after SIGKILL, too, if faults are caught: this is its child then.  *keeper: see there. */
void fault_keep(const struct crash_history *read, int history, struct log *log,
		struct keeper *keeper);
