#include "sys/ipc/sock-diag.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define REPLY_MAX 8192

/* NLMSG_NEXT() casts to a type of stricter alignment, which clang warns of. */
static const struct nlmsghdr *next_header(const struct nlmsghdr *header, size_t *n)
{
	size_t size = NLMSG_ALIGN(header->nlmsg_len);

	*n = size < *n ? *n - size : 0;
	return (const void *)((const char *)header + size);
}

/* Returns what ends the reply, with *done set, or 0. */
static int read_messages(const struct nlmsghdr *header, size_t n, bool *done,
			 int (*each)(const struct nlmsghdr *message, void *arg), void *arg)
{
	int r = 0;

	for (; r == 0 && NLMSG_OK(header, n); header = next_header(header, &n)) {
		*done = header->nlmsg_type == NLMSG_DONE;
		if (*done)
			return 0;
		r = header->nlmsg_type == NLMSG_ERROR
			    ? ((const struct nlmsgerr *)NLMSG_DATA(header))->error
			    : each(header, arg);
	}
	return r;
}

int sock_diag_each(const void *request, size_t size,
		   int (*each)(const struct nlmsghdr *message, void *arg), void *arg)
{
	cleanup(closep) int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	_Alignas(struct nlmsghdr) char reply[REPLY_MAX];
	bool done = false;
	int r = 0;

	if (fd < 0 || send(fd, request, size, 0) < 0)
		return -errno;
	while (r == 0 && !done) {
		ssize_t n = recv(fd, reply, sizeof(reply), MSG_DONTWAIT);

		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		r = read_messages((const struct nlmsghdr *)(const void *)reply, (size_t)n, &done,
				  each, arg);
	}
	return r;
}
