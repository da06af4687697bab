#pragma once

/* Rights that a process gives up for good. */

#include "base/std.h"

struct rights {
	uint32_t capabilities; /* a bit for each, below 32 */
	const uint32_t *calls;	/* numbers of system calls, besides socket(2) of AF_UNIX */
	size_t n_calls; /* at most RIGHTS_CALLS_MAX */
	bool loop;   /* and the calls that every program with a loop, sockets and files makes */
	bool writes; /* files may be opened for writing; else open and openat need not be in @calls */
};

#define RIGHTS_CALLS_MAX 128

/*
 * Gives up all other rights: the process cannot gain privileges, nor make sockets of other families than
 * Unix, nor use a capability or a system call that is not kept.  A system call fails with EPERM then;
 * clone3 with ENOSYS, so that the C library uses clone.  The calls are not limited on an architecture
 * that is not known, under a sanitizer, which makes calls of its own, and by a kernel without filters.
 */
int rights_keep(const struct rights *rights);
