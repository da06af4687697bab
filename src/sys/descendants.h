#pragma once

/*
 * All who descend from us, however often they have changed their session, their group or their
 * parent: nobody leaves us but to somebody whose ancestor we are, as long as we are PID 1 or a
 * subreaper.
 */

#include <stddef.h>
#include <sys/types.h>

/* Children that we had before we were this program, of the shell, say, that became it. */
struct descendants {
	pid_t *pids;
	size_t n;
};

/* As far as /proc tells.  Return: 0 or -ENOMEM. */
int descendants_inherit(struct descendants *inherited);
void descendants_done(struct descendants *inherited);

/*
 * Calls @each for every descendant that is alive, but not for what was inherited.  As few /proc
 * shows.  Return: 0 or -errno.
 */
int descendants_each(const struct descendants *inherited,
		     void (*each)(pid_t pid, const char *name, void *arg), void *arg);

/*
 * Sends @signo to all of them, and to the process group @group in any case, if it has members.  PID
 * 1 sends it to everybody there is: to those as well that were brought in from outside and end with
 * us.
 */
void descendants_signal(pid_t group, int signo, const struct descendants *inherited);
