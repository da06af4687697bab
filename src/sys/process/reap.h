#pragma once

/* Reaping of dead children.  A callback gets each child first, while its pid cannot be reused. */

#include "sys/process/proc.h"

struct reap_exit {
	pid_t pid;
	bool signaled; /* value is a signal, else an exit status */
	bool dumped;   /* the signal has written a core dump */
	int value;
	uid_t uid; /* its real user at its end; not of reap_collected() */
};

/*
 * Calls @report for at most @max children and reaps them.  @report must not reap.  Returns their
 * number.
 */
unsigned reap_children(unsigned max, void (*report)(const struct reap_exit *exit, void *arg),
		       void *arg);

/* The same only for @pid, at a constant cost.  Returns true if it was a dead child. */
bool reap_child(pid_t pid, void (*report)(const struct reap_exit *exit, void *arg), void *arg);

/* As reap_children() in half the time, but @report is called after the child has been reaped. */
unsigned reap_collected(unsigned max, void (*report)(const struct reap_exit *exit, void *arg),
			void *arg);
