/*
 * The process that has accepted a connection holds it, so the daemon asks the kernel: the server's
 * end of a connection has the address of the listening socket.
 *
 * A short connection may come and go between two looks, so a count alone would miss it.  Announced ends
 * (SKNLGRP_INET_TCP_DESTROY) alone would miss one that stays.  If none has ended, each that has come is
 * in the count.  A filter leaves out other ports, so that a busy machine does not fill the queue.
 */
#include "sys/ipc/connections.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>

#define STATE(name) (1U << TCP_##name)
/* States of a connection in which its server may have something to send, or to receive. */
#define OPEN_STATES                                                                    \
	(STATE(ESTABLISHED) | STATE(SYN_RECV) | STATE(CLOSE_WAIT) | STATE(FIN_WAIT1) | \
	 STATE(FIN_WAIT2))

struct search {
	union socket_address address;
	socklen_t length;
};

/* A socket in these states without an inode was closed by its process. */
static int connections_on_inet(const struct inet_diag_msg *socket, void *arg)
{
	const struct search *search = arg;
	const uint32_t *local;

	if (!socket->idiag_inode &&
	    (socket->idiag_state == TCP_FIN_WAIT1 || socket->idiag_state == TCP_FIN_WAIT2))
		return 0;
	local = socket->id.idiag_src;
	if (search->address.any.sa_family == AF_INET)
		return search->address.in.sin_addr.s_addr == INADDR_ANY ||
		       search->address.in.sin_addr.s_addr == local[0];
	return IN6_IS_ADDR_UNSPECIFIED(&search->address.in6.sin6_addr) ||
	       memcmp(&search->address.in6.sin6_addr, local, sizeof(struct in6_addr)) == 0;
}

static int connections_find_inet(struct search *search, in_port_t port)
{
	return sock_diag_each_tcp(search->address.any.sa_family, &port, 1, OPEN_STATES,
				  connections_on_inet, search);
}

/* The first attribute is the name. */
static int connections_on_unix(const struct nlmsghdr *message, void *arg)
{
	const struct search *search = arg;
	const struct unix_diag_msg *socket = NLMSG_DATA(message);
	const struct nlattr *name = (const void *)(socket + 1);
	size_t length = search->length - offsetof(struct sockaddr_un, sun_path);

	return message->nlmsg_len >= NLMSG_LENGTH(sizeof(*socket)) + NLA_HDRLEN + length &&
	       name->nla_type == UNIX_DIAG_NAME && name->nla_len == NLA_HDRLEN + length &&
	       memcmp((const char *)name + NLA_HDRLEN, search->address.un.sun_path, length) == 0;
}

static int connections_find_unix(struct search *search)
{
	const struct {
		struct nlmsghdr header;
		struct unix_diag_req request;
	} call = {
		.header = { .nlmsg_len = sizeof(call),
			    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.request = { .sdiag_family = AF_UNIX,
			     .udiag_states = STATE(ESTABLISHED),
			     .udiag_show = UDIAG_SHOW_NAME },
	};

	return sock_diag_each(&call, sizeof(call), connections_on_unix, search);
}

int connections_are_open(int fd)
{
	struct search search = { .length = sizeof(search.address) };
	struct pollfd waiting = { .fd = fd, .events = POLLIN };

	if (getsockname(fd, &search.address.any, &search.length) < 0)
		return -errno;
	/* The kernel lists no connection of UNIX that is still in the queue. */
	if (poll(&waiting, 1, 0) > 0)
		return 1;
	if (fd_option(fd, SO_TYPE) != SOCK_STREAM)
		return 0;
	switch (search.address.any.sa_family) {
	case AF_UNIX:
		return connections_find_unix(&search);
	case AF_INET:
		return connections_find_inet(&search, search.address.in.sin_port);
	default:
		return connections_find_inet(&search, search.address.in6.sin6_port);
	}
}

/* --- connections that come to ports --- */

#define GROUP(name) (1U << (SKNLGRP_INET##name##_TCP_DESTROY - 1))
#define STATES	    (OPEN_STATES | STATE(LAST_ACK) | STATE(CLOSING))

/* Announcements of other ports are dropped; a load is of network order. */
static int arrivals_filter(const struct arrivals *a, int fd)
{
	const unsigned at = NLMSG_HDRLEN + offsetof(struct inet_diag_msg, id.idiag_sport);
	struct sock_filter code[ARRIVALS_PORTS_MAX + 3] = { BPF_STMT(BPF_LD | BPF_H | BPF_ABS,
								     at) };
	struct sock_filter *next = code + 1;

	/* Each port jumps to the last statement. */
	for (size_t left = a->n_ports; left > 0; left--)
		*next++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						       ntohs(a->ports[left - 1]), (uint8_t)left, 0);
	*next++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	*next++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);

	const struct sock_fprog program = { .len = (unsigned short)(next - code), .filter = code };

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0 ? -errno
											   : 0;
}

/* The filter comes before the first announcement. */
static int arrivals_open(const struct arrivals *a)
{
	const struct sockaddr_nl address = { .nl_family = AF_NETLINK,
					     .nl_groups = GROUP() | GROUP(6) };
	cleanup(closep) int fd =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
	int r = fd < 0 ? -errno : arrivals_filter(a, fd);

	if (r < 0)
		return r;
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(fd);
}

static int arrivals_on_connection(const struct inet_diag_msg *socket, void *arg)
{
	return ++*(size_t *)arg > ARRIVALS_MAX ? -E2BIG : 0;
}

static int arrivals_count(const struct arrivals *a, size_t *ret)
{
	int r;

	*ret = 0;
	r = sock_diag_each_tcp(AF_UNSPEC, a->ports, a->n_ports, STATES, arrivals_on_connection,
			       ret);
	return r == -E2BIG ? 0 : r;
}

int arrivals_begin(struct arrivals *a, const in_port_t *ports, size_t n)
{
	int r;

	*a = (struct arrivals){ .n_ports = MIN(n, (size_t)ARRIVALS_PORTS_MAX) };
	memcpy(a->ports, ports, a->n_ports * sizeof(*ports));
	a->fd = r = arrivals_open(a);
	if (r >= 0)
		r = arrivals_count(a, &a->open);
	if (r < 0)
		arrivals_end(a);
	return r;
}

void arrivals_end(struct arrivals *a)
{
	a->fd = fd_close(a->fd);
}

/* Further announcements are dropped with the socket, and another is opened. */
static int arrivals_have_ended(struct arrivals *a)
{
	char byte;

	if (recv(a->fd, &byte, sizeof(byte), MSG_DONTWAIT) < 0 && errno == EAGAIN)
		return 0;
	arrivals_end(a);
	a->fd = arrivals_open(a);
	return a->fd < 0 ? a->fd : 1;
}

int arrivals_look(struct arrivals *a)
{
	size_t before = a->open;
	int ended = arrivals_have_ended(a);
	int r = ended < 0 ? ended : arrivals_count(a, &a->open);

	return r < 0 ? r : ended || a->open > MIN(before, (size_t)ARRIVALS_MAX);
}
