#include "sys/ipc/inetsock.h"

#include "base/std.h"

int inet_listen(const struct sockaddr *address, socklen_t length, int type)
{
	cleanup(closep) int fd = socket(address->sa_family, type | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0)
		return -errno;
	if (type == SOCK_STREAM && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	if (bind(fd, address, length) < 0)
		return -errno;
	if (type == SOCK_STREAM && listen(fd, SOMAXCONN) < 0)
		return -errno;
	return take_fd(fd);
}
