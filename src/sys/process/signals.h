#pragma once

/*
 * The signal state of the process: what it was started with, and what its children get.
 *
 * The daemon takes signals through descriptors, so everything is blocked and nothing is handled or
 * ignored; a child then starts clean without a system call a signal.
 */

#include <signal.h>

struct signals {
	sigset_t mask;	  /* blocked when we were started */
	sigset_t ignored; /* ignored when we were started */
};

/* Remembers what is there in *was, then resets every disposition and blocks every signal. */
void signals_take_over(struct signals *was);

/*
 * The same for who only stands in front of a command: blocks every signal, and sees to SIGCHLD.
 * What is ignored stays so, and is inherited; blocked, it arrives all the same.  *was has of the
 * ignored signals SIGCHLD alone.
 */
void signals_hold(struct signals *was);
