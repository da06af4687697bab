#pragma once

/*
 * The daemon's side of the page that it shares with an attached program (base/page.h).
 *
 * The page is accessed by system calls and never mapped: the program cannot harm the daemon by
 * changing it.  Its content is not trusted: every content results in a number.
 */

#include "base/std.h"

/*
 * Creates a page with a lane for each possible processor.  Return: a CLOEXEC descriptor or -errno.
 */
int pagefile_new(void);

/* Sets @stop in the page.  Return: 0 or -errno. */
int pagefile_stop(int fd);

/* Returns the pid of the attached process; 0: none, or not visible in this pid namespace. */
pid_t pagefile_holder(int fd);

/* Returns the number of guards held, by the page. */
#define PAGEFILE_GUARDS_MAX INT32_MAX
uint64_t pagefile_guards(int fd);
