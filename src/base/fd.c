/*
 * Descriptors: closing, opening and copying as several layers need it.  A memory file that several processes map
 * is sealed, so that none of them can shrink it under the others.
 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/macro.h"

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3 */
#define MFD_NOEXEC_SEAL 0x0008U
#endif

int fd_close(int fd)
{
	if (fd >= 0)
		(void)close(fd);
	return -1;
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

int fd_open_regular(int directory, const char *path, uint64_t *left)
{
	cleanup(closep) int fd =
		openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	if ((uint64_t)st.st_size > *left)
		return -EFBIG;
	*left -= (uint64_t)st.st_size;
	return take_fd(fd);
}

void fd_close_between(int first, int last)
{
	if (first > last || syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0) == 0)
		return;
	/* The call is missing before Linux 5.9, and in a sandbox that refuses unknown calls. */
	for (int fd = first; fd <= last && fd < 65536; fd++)
		(void)close(fd);
}

void fd_close_above(int last)
{
	fd_close_between(last + 1, INT_MAX);
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

int fd_option(int fd, int name)
{
	socklen_t size = sizeof(int);
	int value;

	return getsockopt(fd, SOL_SOCKET, name, &value, &size) < 0 ? -1 : value;
}

int fd_new_sealed(const char *name, size_t size, const void *header, size_t header_size)
{
	const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	/* Not executable, which some machines require of a memfd. */
	cleanup(closep) int fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);
	ssize_t n;

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
		return -errno;
	n = pwrite(fd, header, header_size, 0);
	if (n != (ssize_t)header_size)
		return n < 0 ? -errno : -ENOSPC;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -errno;
	return take_fd(fd);
}

void fd_pass(struct msghdr *message, union fd_room *room, int fd)
{
	*room = (union fd_room){ 0 };
	message->msg_control = room;
	message->msg_controllen = sizeof(*room);
	*CMSG_FIRSTHDR(message) = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
						    .cmsg_type = SCM_RIGHTS,
						    .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(CMSG_FIRSTHDR(message)), &fd, sizeof(int));
}

int fd_take_passed(const struct msghdr *message)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}
