/*
 * Readiness is no promise: another thread or process may read, or fill the room, before this call
 * does, and a write of more than the room waits for the rest.  So each try must return at once.
 * The library may not set O_NONBLOCK for that, since the flag belongs to all users of the file.
 * There are several manners to try, and none fits every file:
 *
 *	NOWAIT	a flag of the call; Linux has it for sockets, pipes, counters, and cached data
 *	MESSAGE	the same for sockets, for a Linux that has the first for files only
 *	PLAIN	if the file does not wait: it is non-blocking, on a disk, or opened once more by us
 *	CAREFUL	else: only when it is ready, and no more bytes than there is room for then
 */
#include "swansong/interrupt/channel-private.h"

#include <sys/sysmacros.h>

#include "swansong/base/cancel-private.h"

int deadline_poll(struct pollfd *fds, nfds_t n, uint64_t deadline)
{
	for (;;) {
		uint64_t now = deadline == USEC_INFINITY ? 0 : clock_now_usec();
		uint64_t left = deadline > now ? deadline - now : 0;
		struct timespec ts = {
			.tv_sec = (time_t)(left / USEC_PER_SEC),
			.tv_nsec = (long)(left % USEC_PER_SEC * 1000),
		};
		int r = ppoll(fds, n, deadline == USEC_INFINITY ? NULL : &ts, NULL);

		if (r > 0)
			return r;
		if (r == 0)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

static ssize_t channel_read_nowait(int fd, const struct iovec *iov, int n)
{
	return preadv2(fd, iov, n, -1, RWF_NOWAIT);
}

static ssize_t channel_write_nowait(int fd, const struct iovec *iov, int n)
{
	return pwritev2(fd, iov, n, -1, RWF_NOWAIT);
}

static struct msghdr channel_message_of(const struct iovec *iov, int n)
{
	return (struct msghdr){ .msg_iov = (struct iovec *)iov, .msg_iovlen = (size_t)n };
}

static ssize_t channel_read_message(int fd, const struct iovec *iov, int n)
{
	struct msghdr message = channel_message_of(iov, n);

	return recvmsg(fd, &message, MSG_DONTWAIT);
}

static ssize_t channel_write_message(int fd, const struct iovec *iov, int n)
{
	struct msghdr message = channel_message_of(iov, n);

	return sendmsg(fd, &message, MSG_DONTWAIT);
}

static bool channel_is_ready(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	if (deadline_poll(&p, 1, 0) > 0)
		return true;
	errno = EAGAIN;
	return false;
}

static ssize_t channel_read_careful(int fd, const struct iovec *iov, int n)
{
	return channel_is_ready(fd, POLLIN) ? readv(fd, iov, n) : -1;
}

/* Writes at most PIPE_BUF bytes: a pipe is ready when it has room for as many. */
static ssize_t channel_write_careful(int fd, const struct iovec *iov, int n)
{
	while (n > 1 && iov->iov_len == 0) {
		iov++;
		n--;
	}
	if (n < 1 || !channel_is_ready(fd, POLLOUT))
		return n < 1 ? 0 : -1;
	return write(fd, iov->iov_base, MIN(iov->iov_len, (size_t)PIPE_BUF));
}

const struct direction channel_reading = {
	.events = POLLIN,
	.mode = O_RDONLY,
	.attempt = {
		[NOWAIT] = channel_read_nowait,
		[MESSAGE] = channel_read_message,
		[PLAIN] = readv,
		[CAREFUL] = channel_read_careful,
	},
};

const struct direction channel_writing = {
	.events = POLLOUT,
	.mode = O_WRONLY,
	.attempt = {
		[NOWAIT] = channel_write_nowait,
		[MESSAGE] = channel_write_message,
		[PLAIN] = writev,
		[CAREFUL] = channel_write_careful,
	},
};

/* Opens the file of @fd once more, with flags of its own.  Returns a descriptor or -errno. */
static int channel_reopen(int fd, int mode)
{
	char path[sizeof("/proc/self/fd/") + 3 * sizeof(int)];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/*
 * Chooses a manner after NOWAIT has failed with @error, which is EAGAIN or EOPNOTSUPP.  Returns 0
 * or -errno.
 */
static int channel_choose(struct channel *c, int error)
{
	int flags = fcntl(c->fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(c->fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode)) {
		c->manner = PLAIN;
	} else if (error == EAGAIN) {
		c->manner = NOWAIT;
	} else if (S_ISSOCK(st.st_mode)) {
		c->manner = MESSAGE;
	} else if (flags & O_NONBLOCK) {
		c->manner = PLAIN;
	} else {
		/* Each open of /dev/ptmx makes another pseudo-terminal. */
		c->own = S_ISFIFO(st.st_mode) || (S_ISCHR(st.st_mode) &&
						  st.st_rdev != makedev(5, 2) && isatty(c->fd))
				 ? channel_reopen(c->fd, c->direction->mode)
				 : -1;
		c->manner = c->own < 0 ? CAREFUL : PLAIN;
		c->fd = c->own < 0 ? c->fd : c->own;
	}
	return 0;
}

ssize_t channel_try(struct channel *c, const struct iovec *iov, int n)
{
	const struct direction *d = c->direction;
	ssize_t r = d->attempt[c->manner](c->fd, iov, n);
	int error = r < 0 ? errno : 0;

	if (c->manner != NOWAIT || (error != EAGAIN && error != EOPNOTSUPP))
		return r < 0 ? -error : r;
	/* Polls once before it asks for the kind of the file: one on a disk is ready, and comes back. */
	if (error == EAGAIN && !c->tried) {
		c->tried = true;
		return -EAGAIN;
	}
	r = channel_choose(c, error);
	if (r < 0 || c->manner == NOWAIT)
		return r < 0 ? r : -error;
	r = d->attempt[c->manner](c->fd, iov, n);
	return r < 0 ? -errno : r;
}

void channel_done(struct channel *c)
{
	cancel_safe_close(c->own);
}
