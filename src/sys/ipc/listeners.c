#include "sys/ipc/listeners.h"

#include <netinet/tcp.h>

#include "sys/ipc/sock-diag.h"
#include "sys/process/proc.h"

/*
 * The kernel is asked for the sockets that listen only: /proc/net/tcp would go through the table of
 * all connections, which takes 10 ms on a large machine.  The descriptors of a process are links to
 * "socket:[INODE]".
 */

/* An address of IPv4 is that of IPv6 that it is mapped to. */
struct search {
	int family;
	in_port_t port;
	struct in6_addr address;
	struct listeners found;
};

/* A socket of IPv6 that listens at any address may take connections of IPv4. */
static bool listeners_is_reached_by(const struct search *search, const struct inet_diag_msg *socket)
{
	struct in6_addr local;

	if (socket->id.idiag_sport != search->port)
		return false;
	if (socket->idiag_family == AF_INET)
		return search->family == AF_INET &&
		       (socket->id.idiag_src[0] == search->address.s6_addr32[3] ||
			socket->id.idiag_src[0] == INADDR_ANY);
	memcpy(&local, socket->id.idiag_src, sizeof(local));
	return IN6_IS_ADDR_UNSPECIFIED(&local) ||
	       memcmp(&local, &search->address, sizeof(local)) == 0;
}

static int listeners_on_socket(const struct inet_diag_msg *socket, void *arg)
{
	struct search *search = arg;
	struct listeners *l = &search->found;

	if (!listeners_is_reached_by(search, socket))
		return 0;
	if (l->n == LISTENERS_MAX)
		return -E2BIG;
	l->inodes[l->n++] = socket->idiag_inode;
	l->uid = socket->idiag_uid;
	return 0;
}

int listeners_find(const struct sockaddr *address, struct listeners *ret)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	struct search search = { .family = address->sa_family };
	int r;

	if (search.family == AF_INET) {
		search.port = in->sin_port;
		search.address.s6_addr32[2] = htonl(0xffff);
		search.address.s6_addr32[3] = in->sin_addr.s_addr;
	} else {
		search.port = in6->sin6_port;
		search.address = in6->sin6_addr;
	}
	r = sock_diag_each_tcp(search.family == AF_INET ? AF_UNSPEC : AF_INET6, &search.port, 1,
			       1U << TCP_LISTEN, listeners_on_socket, &search);
	if (r == -ENOENT)
		r = 0; /* a kernel without IPv6 */
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
