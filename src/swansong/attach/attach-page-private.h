#pragma once

/* The descriptors that the daemon passes to a service that may attach; see base/page.h. */

#include "base/page.h"
#include "base/std.h"

struct passed {
	int fd; /* of the page, locked; the only one, since closing another would unlock it */
	int socket;
	struct page *page; /* mapped in this process, and in no process that it forks */
	size_t size;
	uint32_t n_lanes; /* number of lanes; the page has room for them, as was checked */
};

#define PASSED_NONE                     \
	{                               \
		.fd = -1, .socket = -1, \
	}

/*
 * Takes the descriptors out of the environment, checks them and locks the page.
 *
 * Return: 1; 0 if nothing was passed; -EBUSY if another process has locked the page; -EPROTO or
 * -EBADF if the descriptors are not of the expected kind; or another -errno.  *@ret is written with
 * 1 only.  With -EBUSY the descriptors are closed; after other errors they are left alone, as they
 * may be something else.
 */
int passed_take(struct passed *ret);

/* Has the descriptors closed in forked processes.  Returns 0 or -ENOMEM. */
int passed_close_in_fork(const struct passed *p);

/*
 * Releases the lock and closes the descriptors.  The daemon then sees the end of the socket, even
 * if other processes have copies of it.
 */
void passed_close(struct passed *p);

void passed_unmap(struct passed *p);
