#pragma once

/* Reading and writing without waiting in the kernel, on any descriptor.  See channel.c. */

#include <sys/uio.h>

#include "base/std.h"

enum channel_manner { NOWAIT, MESSAGE, PLAIN, CAREFUL, N_MANNERS };

struct direction {
	short events;
	int mode;
	ssize_t (*attempt[N_MANNERS])(int fd, const struct iovec *iov, int n); /* -1 and errno */
};

extern const struct direction channel_reading, channel_writing;

struct channel {
	int fd; /* to poll for direction->events */
	const struct direction *direction;
	enum channel_manner manner;
	bool tried;
	int own; /* the same as fd if the channel has to close it, else -1 */
};

/* A channel on @descriptor, which stays the caller's and stays open meanwhile. */
#define CHANNEL_INITIALIZER(descriptor, way)                                        \
	{                                                                           \
		.fd = (descriptor), .direction = (way), .manner = NOWAIT, .own = -1 \
	}

/*
 * Tries once.  Returns the number of bytes; -EAGAIN if the caller has to poll, -EINTR if it has to
 * try again; or another -errno.
 */
ssize_t channel_try(struct channel *c, const struct iovec *iov, int n);

/* Closes the descriptor that the channel owns, if there is one. */
void channel_done(struct channel *c);

/*
 * poll(2) until @deadline, an absolute time of CLOCK_MONOTONIC; signals do not end it.  Returns the
 * number of ready descriptors, -ETIMEDOUT or -errno.
 */
int deadline_poll(struct pollfd *fds, nfds_t n, uint64_t deadline);
