#include "sys/ipc/listeners.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sys/ipc/sock-diag.h"
#include "sys/process/proc.h"

/*
 * The kernel is asked for the sockets that listen only: /proc/net/tcp would go through the table of
 * all connections, which takes 10 ms on a large machine.  The descriptors of a process are links to
 * "socket:[INODE]".
 */

static const struct in6_addr *listeners_address6(const struct sockaddr *address)
{
	return &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
}

static in_addr_t listeners_address4(const struct sockaddr *address)
{
	return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr;
}

static in_port_t listeners_port_of(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6
		       ? ((const struct sockaddr_in6 *)(const void *)address)->sin6_port
		       : ((const struct sockaddr_in *)(const void *)address)->sin_port;
}

/* A socket of IPv6 that listens at any address may take connections of IPv4. */
static bool listeners_is_reached_by(const struct sockaddr *address,
				    const struct inet_diag_msg *socket)
{
	struct in6_addr local;

	if (socket->id.idiag_sport != listeners_port_of(address))
		return false;
	if (socket->idiag_family == AF_INET)
		return address->sa_family == AF_INET &&
		       (socket->id.idiag_src[0] == listeners_address4(address) ||
			socket->id.idiag_src[0] == INADDR_ANY);
	memcpy(&local, socket->id.idiag_src, sizeof(local));
	if (IN6_IS_ADDR_UNSPECIFIED(&local))
		return true;
	if (address->sa_family == AF_INET)
		return IN6_IS_ADDR_V4MAPPED(&local) &&
		       socket->id.idiag_src[3] == listeners_address4(address);
	return memcmp(&local, listeners_address6(address), sizeof(local)) == 0;
}

struct search {
	const struct sockaddr *address;
	struct listeners found;
};

static int listeners_on_socket(const struct inet_diag_msg *socket, void *arg)
{
	struct search *search = arg;
	struct listeners *l = &search->found;

	if (!listeners_is_reached_by(search->address, socket))
		return 0;
	if (l->n == LISTENERS_MAX)
		return -E2BIG;
	l->inodes[l->n++] = socket->idiag_inode;
	l->uid = socket->idiag_uid;
	return 0;
}

static int listeners_find_of_family(int family, struct search *search)
{
	const in_port_t port = listeners_port_of(search->address);

	return sock_diag_each_tcp(family, &port, 1, 1U << TCP_LISTEN, listeners_on_socket, search);
}

int listeners_find(const struct sockaddr *address, struct listeners *ret)
{
	struct search search = { .address = address };
	int r = listeners_find_of_family(AF_INET6, &search);

	/* A kernel without IPv6. */
	if (r == -ENOENT)
		r = 0;
	if (r == 0 && address->sa_family == AF_INET)
		r = listeners_find_of_family(AF_INET, &search);
	if (r == 0)
		*ret = search.found;
	return r;
}

bool listeners_have(const struct listeners *l, uint64_t inode)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->inodes[i] == inode)
			return true;
	return false;
}

struct look {
	const struct listeners *listeners;
	unsigned *budget;
};

static int listeners_is_one_of(int dir, const char *name, void *arg)
{
	const struct look *look = arg;
	char target[64];
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);
	uint64_t inode;

	--*look->budget;
	if (n > 0) {
		target[n] = '\0';
		if (sscanf(target, "socket:[%" SCNu64 "]", &inode) == 1 &&
		    listeners_have(look->listeners, inode))
			return 1;
	}
	return *look->budget == 0 ? -E2BIG : 0;
}

bool listeners_held_by(const struct listeners *l, pid_t pid, unsigned *budget)
{
	struct look look = { .listeners = l, .budget = budget };

	return *budget > 0 && proc_each_descriptor(pid, listeners_is_one_of, &look) == 1;
}

struct walk {
	const struct listeners *listeners;
	unsigned *budget;
	bool (*each)(pid_t pid, void *arg);
	void *arg;
};

static int listeners_check_process(pid_t pid, void *arg)
{
	const struct walk *w = arg;

	if (listeners_held_by(w->listeners, pid, w->budget) && w->each(pid, w->arg))
		return 1;
	return *w->budget == 0 ? -E2BIG : 0;
}

int listeners_each_holder(const struct listeners *l, unsigned *budget,
			  bool (*each)(pid_t pid, void *arg), void *arg)
{
	struct walk walk = { .listeners = l, .budget = budget, .each = each, .arg = arg };

	return proc_each(listeners_check_process, &walk);
}
