#pragma once

/* Reading and writing without waiting in the kernel, whatever the descriptor is.  See channel.c. */

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

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
	int own; /* the same as fd if it is ours to close, else -1 */
};

/* For a time; the descriptor stays the caller's. */
#define CHANNEL_INITIALIZER(descriptor, way)                                        \
	{                                                                           \
		.fd = (descriptor), .direction = (way), .manner = NOWAIT, .own = -1 \
	}

/* The number of bytes, or -errno: -EAGAIN to be polled for, -EINTR to be tried again. */
ssize_t channel_try(struct channel *c, const struct iovec *iov, int n);

/* For cleanup(). */
void channel_done(struct channel *c);

/*
 * poll(2) until an absolute time of CLOCK_MONOTONIC, whatever signals come.  The number that is
 * ready, -ETIMEDOUT or -errno.
 */
int deadline_poll(struct pollfd *fds, nfds_t n, uint64_t deadline);
