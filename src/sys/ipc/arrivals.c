/*
 * A short connection may come and go between two looks, so a count alone would miss it.  Announced ends
 * (SKNLGRP_INET_TCP_DESTROY) alone would miss one that stays.  If none has ended, each that has come is
 * in the count.  A filter leaves out other ports, so that a busy machine does not fill the queue.
 */
#include "sys/ipc/arrivals.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>

#define GROUP(name) (1U << (SKNLGRP_INET##name##_TCP_DESTROY - 1))
#define STATE(name) (1U << TCP_##name)
#define STATES                                                                         \
	(STATE(ESTABLISHED) | STATE(SYN_RECV) | STATE(CLOSE_WAIT) | STATE(FIN_WAIT1) | \
	 STATE(FIN_WAIT2) | STATE(LAST_ACK) | STATE(CLOSING))

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
	r = sock_diag_each_tcp(AF_INET6, a->ports, a->n_ports, STATES, arrivals_on_connection, ret);
	/* A kernel without IPv6. */
	if (r == 0 || r == -ENOENT)
		r = sock_diag_each_tcp(AF_INET, a->ports, a->n_ports, STATES,
				       arrivals_on_connection, ret);
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
