#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
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
	int fd;

	/* The lowest free descriptor is the one that is missing. */
	do {
		fd = open("/dev/null", O_RDWR);
		if (fd < 0)
			return -errno;
	} while (fd <= STDERR_FILENO);
	(void)close(fd);
	return 0;
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
