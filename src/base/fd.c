#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int fd_close(int fd)
{
	if (fd >= 0)
		(void)close(fd);
	return -1;
}

int fd_close_passed(int fd)
{
	const struct linger off = { .l_onoff = 0 };

	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
	return fd_close(fd);
}

int fd_open_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int made;

		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* open() returns the lowest free descriptor, which is @fd. */
		made = open("/dev/null", O_RDWR);
		/* The root directory occupies the number, and can be neither read nor written. */
		if (made < 0)
			made = open("/", O_PATH);
		if (made < 0)
			return -errno;
	}
	return 0;
}

int fd_open_null(void)
{
	int fds[2], fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno != ENOENT || pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	(void)close(fds[1]);
	return fds[0];
}

void fd_close_above(int last)
{
	if (syscall(SYS_close_range, (unsigned)last + 1, UINT_MAX, 0) == 0)
		return;
	/*
	 * close_range() is missing before Linux 5.9, and in a sandbox that refuses unknown calls.
	 */
	for (int fd = last + 1; fd < 1024; fd++)
		(void)close(fd);
}

int fd_set_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	if (fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}
