/*
 * The cancellation points of pthreads(7) that the library calls, in place of those of the C library.
 * The linker has the list of all (--wrap); a program that calls one without a wrapper here is not
 * linked.
 */
#include "cancel-points.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "explore.h"

#define WRAPPER(result, name, ...)         \
	result __real_##name(__VA_ARGS__); \
	result __wrap_##name(__VA_ARGS__); \
	result __wrap_##name(__VA_ARGS__)

#define POINT(result, name, parameters, ...)       \
	result __real_##name parameters;           \
	result __wrap_##name parameters;           \
	result __wrap_##name parameters            \
	{                                          \
		explore_cancellation_point();      \
		return __real_##name(__VA_ARGS__); \
	}

POINT(int, accept4, (int fd, struct sockaddr *a, socklen_t *length, int flags), fd, a, length,
      flags)
POINT(int, close, (int fd), fd)
POINT(int, connect, (int fd, const struct sockaddr *a, socklen_t length), fd, a, length)
POINT(int, eventfd_read, (int fd, eventfd_t *value), fd, value)
POINT(int, eventfd_write, (int fd, eventfd_t value), fd, value)
POINT(ssize_t, pwritev2, (int fd, const struct iovec *iov, int n, off_t offset, int flags), fd, iov,
      n, offset, flags)
POINT(ssize_t, pwrite, (int fd, const void *buffer, size_t size, off_t offset), fd, buffer, size,
      offset)
POINT(ssize_t, read, (int fd, void *buffer, size_t size), fd, buffer, size)
POINT(ssize_t, readv, (int fd, const struct iovec *iov, int n), fd, iov, n)
POINT(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), fd, m, flags)
POINT(ssize_t, send, (int fd, const void *buffer, size_t size, int flags), fd, buffer, size, flags)
POINT(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), fd, m, flags)
POINT(ssize_t, write, (int fd, const void *buffer, size_t size), fd, buffer, size)
POINT(ssize_t, writev, (int fd, const struct iovec *iov, int n), fd, iov, n)

POINT(int, __open_2, (const char *path, int flags), path, flags) /* open() of a hardened build */

bool explore_lacks_nowait;

WRAPPER(ssize_t, preadv2, int fd, const struct iovec *iov, int n, off_t offset, int flags)
{
	explore_cancellation_point();
	if (!explore_lacks_nowait)
		return __real_preadv2(fd, iov, n, offset, flags);
	errno = EOPNOTSUPP;
	return -1;
}

/* No mode is passed here. */
WRAPPER(int, open, const char *path, int flags, ...)
{
	explore_cancellation_point();
	return __real_open(path, flags);
}

WRAPPER(int, openat, int at, const char *path, int flags, ...)
{
	explore_cancellation_point();
	return __real_openat(at, path, flags);
}

WRAPPER(int, poll, struct pollfd *fds, nfds_t n, int timeout)
{
	return __real_poll(fds, n, explore_poll(fds, n, timeout < 0) ? 0 : timeout);
}

WRAPPER(int, ppoll, struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	const sigset_t *mask)
{
	static const struct timespec none;

	return __real_ppoll(fds, n, explore_poll(fds, n, !timeout) ? &none : timeout, mask);
}

WRAPPER(void, pthread_testcancel, void)
{
	explore_cancellation_point();
}

WRAPPER(int, pthread_setcancelstate, int state, int *old)
{
	int was = explore_set_cancel_state(state);

	if (old)
		*old = was;
	return 0;
}
