#pragma once

/* The daemon's side of base/page.h, for programs that attach to it in the same process or a child. */

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/page.h"

struct fake_daemon {
	int fd, socket;		/* ours; closing fd drops a lock of this process */
	int passed, passed_end; /* the program's: of the page, and of the socket */
	struct page *page;
	uint32_t n_lanes;
	size_t size;
};

static inline void fake_daemon_announce(const struct fake_daemon *d)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%d:%d", d->passed, d->passed_end);
	(void)setenv(PAGE_VARIABLE, text, 1);
}

/* False if the machine does not let us. */
static inline bool fake_daemon_make(struct fake_daemon *d, uint32_t n_lanes, int seals)
{
	int pair[2];
	void *map;

	*d = (struct fake_daemon){ .n_lanes = n_lanes };
	d->size = PAGE_HEADER + n_lanes * sizeof(struct page_lane);
	d->fd = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (d->fd < 0 || ftruncate(d->fd, (off_t)d->size) < 0)
		return false;
	map = mmap(NULL, d->size, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, 0);
	if (map == MAP_FAILED || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return false;
	d->page = map;
	d->page->magic = PAGE_MAGIC;
	d->page->version = PAGE_VERSION;
	d->page->n_lanes = n_lanes;
	if (fcntl(d->fd, F_ADD_SEALS, seals) < 0)
		return false;
	d->socket = pair[0];
	d->passed_end = dup(pair[1]); /* without FD_CLOEXEC */
	(void)close(pair[1]);
	d->passed = dup(d->fd);
	fake_daemon_announce(d);
	return d->passed >= 0 && d->passed_end >= 0;
}

#define FAKE_DAEMON_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* What the program has not closed is left to it. */
static inline void fake_daemon_end(struct fake_daemon *d)
{
	(void)munmap(d->page, d->size);
	(void)close(d->socket);
	(void)close(d->fd);
}

static inline int64_t fake_daemon_guards(const struct fake_daemon *d)
{
	return page_guards(d->page, d->n_lanes);
}
