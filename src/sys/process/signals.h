#pragma once

/*
 * The signal state of the process: the state that it was started with, and that of its children.
 *
 * The daemon receives signals through descriptors.  So every signal is blocked, and none is handled
 * or ignored; a child starts with a clean state without a system call for each signal.
 */

#include "base/std.h"

struct signals {
	sigset_t mask;	  /* blocked at the start of the process */
	sigset_t ignored; /* ignored at the start of the process */
};

/* Saves the state in *was, then resets every disposition and blocks every signal. */
void signals_take_over(struct signals *was);

/*
 * The same for swansong-init: blocks every signal, and resets SIGCHLD.  Other ignored signals stay
 * ignored and are inherited; as they are blocked, they arrive nevertheless.  In *was, only SIGCHLD
 * can be among the ignored signals.
 */
void signals_hold(struct signals *was);
