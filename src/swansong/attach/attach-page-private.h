#pragma once

/* What the daemon has passed to a service that may attach: base/page.h. */

#include <stddef.h>
#include <stdint.h>

#include "base/page.h"

struct passed {
	int fd; /* of the page, locked; the only one, as any other's close would unlock it */
	int socket;
	struct page *page; /* mapped, and not for a process that is forked */
	size_t size;
	uint32_t n_lanes; /* for which there is room, whatever the page says later */
};

#define PASSED_NONE                     \
	{                               \
		.fd = -1, .socket = -1, \
	}

/*
 * Takes what was passed out of the environment, checks it and locks the page.
 *
 * Return: 1; 0 if nothing was passed; -EBUSY if another process has locked it, -EPROTO or -EBADF if
 * it is not what it should be, or another -errno.  *@ret is written with 1 only; what was passed is
 * closed with -EBUSY, and left alone if it may be something else.
 */
int passed_take(struct passed *ret);

/* Processes that are forked close them.  0 or -ENOMEM. */
int passed_close_in_fork(const struct passed *p);

/*
 * The lock is gone, and then the daemon sees the end of the socket, even if others have copies of
 * it.
 */
void passed_close(struct passed *p);

void passed_unmap(struct passed *p);
