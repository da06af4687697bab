#pragma once

/* Collecting dead children.  Each is first shown to its owner while its pid still means it. */

#include <stdbool.h>
#include <sys/types.h>

struct reap_exit {
	pid_t pid;
	bool signaled; /* value is a signal, else an exit status */
	bool dumped;   /* ... and it left its memory in a file */
	int value;
};

/* Shows and collects at most @max children.  @tell must not reap.  Return: how many. */
unsigned reap_children(unsigned max, void (*tell)(const struct reap_exit *exit, void *arg),
		       void *arg);

/* The same for @pid alone, at a constant cost.  Returns true if it was a dead child. */
bool reap_child(pid_t pid, void (*tell)(const struct reap_exit *exit, void *arg), void *arg);

/* As reap_children() in half the time, but @tell is called when the child has been collected. */
unsigned reap_collected(unsigned max, void (*tell)(const struct reap_exit *exit, void *arg),
			void *arg);
