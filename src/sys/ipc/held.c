/*
 * /proc shows no address of a socket.  So each descriptor of the process is duplicated, by its number,
 * and asked; those that are not wanted are closed.
 */
#include "sys/ipc/held.h"

#include "sys/ipc/passed.h"
#include "sys/process/proc.h"

#ifndef SO_NETNS_COOKIE /* of musl */
#define SO_NETNS_COOKIE 71
#endif

struct held {
	int process;
	const struct sockaddr *address;
	socklen_t length;
	int type;
	uint64_t network;
};

/* Returns the network namespace of a socket, as each has the same addresses; 0: Linux before 5.14 cannot find it. */
static uint64_t held_network_of(int fd)
{
	uint64_t network = 0;
	socklen_t size = sizeof(network);

	(void)getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &network, &size);
	return network;
}

static int held_check_descriptor(int dir, const char *name, void *arg)
{
	const struct held *held = arg;
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t length = sizeof(address);
	char link[8];
	uint64_t number;
	ssize_t n;
	int fd;

	if (parse_uint(name, INT_MAX, &number) < 0)
		return 0;
	n = readlinkat(dir, name, link, sizeof(link));
	if (n != sizeof(link) || memcmp(link, "socket:[", sizeof(link)) != 0)
		return n < 0 && errno == EACCES ? -EPERM : 0;
	/* Another file may have the number by now, and its close may wait. */
	fd = (int)syscall(SYS_pidfd_getfd, held->process, (int)number, 0);
	if (fd < 0)
		return errno == EBADF ? 0 : -errno;
	return getsockname(fd, (struct sockaddr *)&address, &length) == 0 &&
			       memcmp(&address, held->address, held->length) == 0 &&
			       fd_option(fd, SO_TYPE) == held->type &&
			       fd_option(fd, SO_ACCEPTCONN) == (held->type == SOCK_STREAM) &&
			       held_network_of(fd) == held->network
		       ? fd
		       : (passed_close_now(fd), 0);
}

int held_take(pid_t pid, const struct sockaddr *address, socklen_t length, int type)
{
	cleanup(closep) int process = proc_open(pid);
	cleanup(closep) int own = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct held held = { process, address, length, type, held_network_of(own) };
	int r = process < 0 ? process : proc_each_descriptor(pid, held_check_descriptor, &held);

	return r == 0 ? -ENOENT : r;
}
