#pragma once

/*
 * The operations of a history: calls of clients, signals, crashes and faults.
 *
 *	start PATH, stop PATH, restart PATH, shutdown PATH [force | within MSEC]	waiting calls
 *	extend PATH MSEC, hold true, hold false	of a shutdown that is under way
 *	short now			a shutdown with half of its time, see short.h
 *	wait PATH STATE			the call Wait
 *	reload NAME			the file becomes configuration NAME; a client reloads
 *	hangup-signal NAME		likewise, by SIGHUP
 *	rollout NAME PATH [or-undo] [pause]	the file becomes configuration NAME; a client rolls it out
 *	rehearse PATH PATH		services are restarted one after another
 *	undo, continue			of the rollout
 *	unconfirmed-reload NAME MSEC	a reload that goes back after so long
 *	confirm				... unless it is confirmed
 *	guard SLOT PATH [late], release SLOT, leave SLOT
 *	sleep SLOT			the host is going to sleep until the client leaves
 *	leave-all			every client closes its connection
 *	signal PATH NAME		the call Signal
 *	crash PATH [SIGNAL]		the main process ends with status 1, or by the signal
 *	exit PATH			the main process ends with status 0
 *	notify PATH TEXT		a message of the main process
 *	fault KIND ERRNO N [SKIP]	N operations of the kind fail, after SKIP more of them
 *	die				the daemon has a fault
 *	die N				likewise, before the N-th change of its roster or of a process
 *	back NAME OTHER			at the end: a reload to NAME, to OTHER, and to NAME again
 *	unconfirmed NAME OTHER		likewise, but the one to OTHER goes back, as it is not confirmed
 *	clock SECONDS			the clock of the day is set by so much
 *	enable PATH, disable PATH	calls
 *	expect PATH STATE		the service must be in the state now
 *	look PATH			a call that only looks
 *	run PATH LINE			a transient node, with a property
 */

#include "tests/sim/history.h"

#define SLOTS 8 /* of guards, and of clients for which the host sleeps */

void operations_init(void);
void operations_carry_out(const struct history *history, const char *line);

/*
 * Reloads to the configuration; with @confirm_usec it goes back after so long.  Returns false if it does not exist, or
 * the last such reload was refused.
 */
bool operations_reload(const struct history *history, const char *name, uint64_t confirm_usec);

/* Returns true if the last such reload was not refused. */
bool operations_is_reloaded(void);

/* Releases all guards, and goes on with a rollout that is paused; the last configuration stays. */
void operations_calm(void);
