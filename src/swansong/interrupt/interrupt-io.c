/*
 * Every call here is the same loop: look at the interrupt, try without waiting, wait for readiness
 * and the stop together.  The descriptor that the stop makes readable is never read, so the next
 * step finds a stop that comes at any point of the loop.
 */
#include <swansong/interrupt-io.h>

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/macro.h"
#include "swansong/interrupt/channel-private.h"
#include "swansong/interrupt/interrupt-private.h"

/* Returns -EAGAIN once @fd has @events, or the stop has come, for another try; else -errno. */
static int interrupt_await_ready(struct swansong_interrupt *i, int fd, short events)
{
	int stop = interrupt_poll_fd(i);
	struct pollfd fds[] = {
		{ .fd = fd, .events = events },
		{ .fd = stop, .events = POLLIN },
	};
	int r = stop < 0 ? stop : deadline_poll(fds, ARRAY_SIZE(fds), USEC_INFINITY);

	return r < 0 ? r : -EAGAIN;
}

static ssize_t interrupt_transfer(struct swansong_interrupt *i, const struct direction *direction,
				  int fd, const struct iovec *iov, int n)
{
	cleanup(channel_done) struct channel c = CHANNEL_INITIALIZER(fd, direction);

	if (n < 0 || n > IOV_MAX)
		return -EINVAL;
	while (!swansong_interrupted(i)) {
		ssize_t r = channel_try(&c, iov, n);

		if (r == -EAGAIN)
			r = interrupt_await_ready(i, c.fd, direction->events);
		if (r != -EAGAIN && r != -EINTR)
			return r;
	}
	return 0;
}

ssize_t swansong_interrupt_read(struct swansong_interrupt *i, int fd, void *buffer, size_t size)
{
	struct iovec iov = { .iov_base = buffer, .iov_len = size };

	return interrupt_transfer(i, &channel_reading, fd, &iov, 1);
}

ssize_t swansong_interrupt_readv(struct swansong_interrupt *i, int fd, const struct iovec *iov,
				 int n)
{
	return interrupt_transfer(i, &channel_reading, fd, iov, n);
}

ssize_t swansong_interrupt_write(struct swansong_interrupt *i, int fd, const void *buffer,
				 size_t size)
{
	struct iovec iov = { .iov_base = (void *)buffer, .iov_len = size };

	return interrupt_transfer(i, &channel_writing, fd, &iov, 1);
}

ssize_t swansong_interrupt_writev(struct swansong_interrupt *i, int fd, const struct iovec *iov,
				  int n)
{
	return interrupt_transfer(i, &channel_writing, fd, iov, n);
}

int swansong_interrupt_accept(struct swansong_interrupt *i, int fd, struct sockaddr *address,
			      socklen_t *length, int flags)
{
	while (!swansong_interrupted(i)) {
		int r = fd_set_nonblock(fd);
		int connection;

		if (r < 0)
			return r;
		connection = accept4(fd, address, length, flags | SOCK_CLOEXEC);

		if (connection >= 0)
			return connection;
		r = -errno;
		if (r == -EAGAIN)
			r = interrupt_await_ready(i, fd, POLLIN);
		if (r != -EAGAIN && r != -EINTR && r != -ECONNABORTED)
			return r;
	}
	return -ESHUTDOWN;
}

/* Polls @all, which has room for @fds and one more for the stop. */
static int interrupt_poll_all(struct swansong_interrupt *i, struct pollfd *all, struct pollfd *fds,
			      nfds_t n, uint64_t deadline)
{
	int stop = interrupt_poll_fd(i);
	int r;

	if (stop < 0)
		return stop;
	if (n > 0)
		memcpy(all, fds, n * sizeof(*fds));
	all[n] = (struct pollfd){ .fd = stop, .events = POLLIN };
	r = deadline_poll(all, n + 1, deadline);
	if (r < 0)
		return r;
	for (nfds_t k = 0; k < n; k++)
		fds[k].revents = all[k].revents;
	return all[n].revents ? r - 1 : r;
}

int swansong_interrupt_poll(struct swansong_interrupt *i, struct pollfd *fds, nfds_t n,
			    uint64_t deadline)
{
	cleanup(freep) struct pollfd *many = NULL;
	struct pollfd few[16];

	if (n >= INT_MAX)
		return -EINVAL;
	if (swansong_interrupted(i)) {
		for (nfds_t k = 0; k < n; k++)
			fds[k].revents = 0;
		return 0;
	}
	if (n < ARRAY_SIZE(few))
		return interrupt_poll_all(i, few, fds, n, deadline);
	many = calloc(n + 1, sizeof(*many));
	return many ? interrupt_poll_all(i, many, fds, n, deadline) : -ENOMEM;
}

bool swansong_interrupt_sleep(struct swansong_interrupt *i, uint64_t deadline)
{
	return swansong_interrupt_wait(i, deadline) < 0;
}

bool swansong_interrupt_next(struct swansong_interrupt *i, bool (*next)(void *arg, void *item),
			     void *arg, void *item)
{
	return !swansong_interrupted(i) && next(arg, item);
}
