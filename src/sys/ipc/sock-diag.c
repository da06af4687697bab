/*
 * A search is one request of NETLINK_SOCK_DIAG.  Each recv(2) makes the kernel write the next part
 * of the reply, so none is waited for.
 */
#include "sys/ipc/sock-diag.h"

#include <linux/sock_diag.h>

#define REPLY_MAX   8192
#define OPS_OF_PORT 3

/* NLMSG_NEXT() casts to a type of stricter alignment, which clang warns of. */
static const struct nlmsghdr *sock_diag_next_header(const struct nlmsghdr *header, size_t *n)
{
	size_t size = NLMSG_ALIGN(header->nlmsg_len);

	*n = size < *n ? *n - size : 0;
	return (const void *)((const char *)header + size);
}

/* Returns what ends the reply, with *done set, or 0. */
static int sock_diag_read_messages(const struct nlmsghdr *header, size_t n, bool *done,
				   int (*each)(const struct nlmsghdr *message, void *arg),
				   void *arg)
{
	int r = 0;

	for (; r == 0 && NLMSG_OK(header, n); header = sock_diag_next_header(header, &n)) {
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
		r = sock_diag_read_messages((const struct nlmsghdr *)(const void *)reply, (size_t)n,
					    &done, each, arg);
	}
	return r;
}

struct tcp_search {
	int (*each)(const struct inet_diag_msg *socket, void *arg);
	void *arg;
};

static int sock_diag_on_tcp(const struct nlmsghdr *message, void *arg)
{
	const struct inet_diag_msg *socket = NLMSG_DATA(message);
	const struct tcp_search *search = arg;

	return message->nlmsg_len < NLMSG_LENGTH(sizeof(*socket))
		       ? 0
		       : search->each(socket, search->arg);
}

/* The operations of each port but the last end with a jump over the others.  Return: their size. */
static size_t sock_diag_filter(struct inet_diag_bc_op *code, const in_port_t *ports, size_t n)
{
	const size_t size = (OPS_OF_PORT * n - 1) * sizeof(*code);

	for (size_t i = 0; i < n; i++) {
		const size_t at = i * OPS_OF_PORT * sizeof(*code);

		code[0] = (struct inet_diag_bc_op){ INET_DIAG_BC_S_EQ, 2 * sizeof(*code),
						    OPS_OF_PORT * sizeof(*code) };
		code[1].no = ntohs(ports[i]);
		code[2] = (struct inet_diag_bc_op){ INET_DIAG_BC_JMP, sizeof(*code),
						    (uint16_t)(size - at - 2 * sizeof(*code)) };
		code += OPS_OF_PORT;
	}
	return size;
}

int sock_diag_each_tcp(int family, const in_port_t *ports, size_t n, uint32_t states,
		       int (*each)(const struct inet_diag_msg *socket, void *arg), void *arg)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 request;
		struct nlattr filter;
		struct inet_diag_bc_op code[SOCK_DIAG_PORTS_MAX * OPS_OF_PORT];
	} call = {
		.header = { .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.request = { .sdiag_family = (uint8_t)family,
			     .sdiag_protocol = IPPROTO_TCP,
			     .idiag_states = states },
		.filter = { .nla_type = INET_DIAG_REQ_BYTECODE },
	};
	struct tcp_search search = { .each = each, .arg = arg };
	size_t size = NLA_HDRLEN + sock_diag_filter(call.code, ports, n);
	int r;

	if (family == AF_UNSPEC) {
		r = sock_diag_each_tcp(AF_INET6, ports, n, states, each, arg);
		return r == 0 || r == -ENOENT
			       ? sock_diag_each_tcp(AF_INET, ports, n, states, each, arg)
			       : r;
	}
	call.filter.nla_len = (uint16_t)size;
	call.header.nlmsg_len = (uint32_t)(offsetof(typeof(call), filter) + size);
	return sock_diag_each(&call, call.header.nlmsg_len, sock_diag_on_tcp, &search);
}
