#pragma once

/*
 * The one place that reaps: for every child of ours, known or adopted.  A dead child is first
 * shown to its owner while its pid still means it, and collected after.
 */

#include <stdbool.h>
#include <sys/types.h>

struct reap_exit {
	pid_t pid;
	bool signaled; /* value is a signal, else an exit status */
	bool dumped;   /* ... and it left its memory in a file */
	int value;
};

/*
 * Tells and collects at most @max dead children.  @tell must not reap.
 *
 * Return: how many; @max says that there may be more.
 */
unsigned reap_children(unsigned max, void (*tell)(const struct reap_exit *exit, void *arg),
		       void *arg);

/*
 * Likewise @pid alone, if it is a dead child of ours.  Return: whether it was.  This costs the same
 * however many children there are, while to find out that none has died Linux looks at each.
 */
bool reap_child(pid_t pid, void (*tell)(const struct reap_exit *exit, void *arg), void *arg);

/*
 * As reap_children() in half the time, for an owner who can do without the pid: told when it is
 * collected.
 */
unsigned reap_collected(unsigned max, void (*tell)(const struct reap_exit *exit, void *arg),
			void *arg);
