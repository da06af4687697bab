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

/* Calls @each for every living descendant that was not inherited.  Return: 0 or -errno. */
int descendants_each(const struct descendants *inherited,
		     void (*each)(pid_t pid, const char *name, void *arg), void *arg);

/* Sends SIGCONT to those of them that are stopped, and to no other. */
void descendants_resume(const struct descendants *inherited);

/* Sends @signo to all of them and to the process group @group; as PID 1, to every process. */
void descendants_signal(pid_t group, int signo, const struct descendants *inherited);
