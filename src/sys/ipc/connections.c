/*
 * The process that has accepted a connection holds it, so the daemon asks the kernel: the server's
 * end of a connection has the address of the listening socket.
 */
#include "sys/ipc/connections.h"

#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <sys/un.h>

#include "sys/ipc/sock-diag.h"

#define STATE(name) (1U << (name))
/* States of a connection in which its server may have something to send, or to receive. */
#define OPEN_STATES                                                             \
	(STATE(TCP_ESTABLISHED) | STATE(TCP_SYN_RECV) | STATE(TCP_CLOSE_WAIT) | \
	 STATE(TCP_FIN_WAIT1) | STATE(TCP_FIN_WAIT2))

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

struct search {
	union address address;
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
			     .udiag_states = STATE(TCP_ESTABLISHED),
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
