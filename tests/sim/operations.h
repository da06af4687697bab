#pragma once

/*
 * The operations of a history: calls of clients, signals, crashes and faults.
 *
 *	start PATH, stop PATH, restart PATH, shutdown PATH [force]	waiting calls
 *	wait PATH STATE [stay]		the call Wait
 *	reload NAME			the file becomes configuration NAME; a client reloads
 *	hangup-signal NAME		likewise, by SIGHUP
 *	rollout NAME PATH		the calls of swansongctl rollout for one service
 *	undo				reload to the configuration before the rollout
 *	guard SLOT PATH [late], release SLOT, leave SLOT
 *	leave-all			every client closes its connection
 *	signal PATH NAME		the call Signal
 *	crash PATH [SIGNAL]		the main process ends with status 1, or by the signal
 *	exit PATH			the main process ends with status 0
 *	notify PATH TEXT		a message of the main process
 *	fault KIND ERRNO N [SKIP]	N operations of the kind fail, after SKIP more of them
 *	back NAME OTHER			at the end: a reload to NAME, to OTHER, and to NAME again
 *	clock SECONDS			the clock of the day is set by so much
 *	enable PATH, disable PATH	calls
 *	expect PATH STATE		the service must be in the state now
 *	look PATH			a call that only looks
 *	run PATH LINE			a transient node, with a property
 */

#include "tests/sim/history.h"

#define SLOTS 8 /* of guards */

void operations_init(void);
void operations_carry_out(const struct history *history, const char *line);

/* Goes on with rollouts, before each event. */
void operations_update(void);

/* Reloads to the configuration.  Returns false if it does not exist, or the last such reload was refused. */
bool operations_reload(const struct history *history, const char *name);

/* Releases all guards; the last configuration stays. */
void operations_calm(void);
