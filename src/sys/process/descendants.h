#pragma once

/*
 * All descendants of this process, whatever sessions, groups and parents they have chosen since.
 * The process must be PID 1 or a subreaper: then an orphan's new parent is a descendant, or this
 * process.
 */

#include "base/std.h"

/* Children from before the exec of this program, for example of the shell that executed it. */
struct descendants {
	pid_t *pids;
	size_t n;
};

/* Collects the children that /proc shows now.  Return: 0 or -ENOMEM. */
int descendants_inherit(struct descendants *inherited);
void descendants_done(struct descendants *inherited);

/* Calls @each for every living descendant that was not inherited.  Return: 0 or -errno. */
int descendants_each(const struct descendants *inherited,
		     void (*each)(pid_t pid, const char *name, void *arg), void *arg);

/* Sends SIGCONT to the stopped ones only. */
void descendants_resume(const struct descendants *inherited);

/* Sends @signo to all descendants and to the process group @group; as PID 1, to every process. */
void descendants_signal(pid_t group, int signo, const struct descendants *inherited);
