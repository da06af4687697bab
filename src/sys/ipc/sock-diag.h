#pragma once

/* Questions to the kernel about the sockets of this network namespace, by sock_diag(7). */

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <netinet/in.h>

#include "base/std.h"

/*
 * Sends @request, a message of type SOCK_DIAG_BY_FAMILY with its header, and calls @each for each
 * message of the reply, until that returns something other than 0.  The kernel composes the reply
 * inside the calls of this function, which therefore do not wait.
 *
 * Return: 0 at the end of the reply, the value of @each, or -errno.
 */
int sock_diag_each(const void *request, size_t size,
		   int (*each)(const struct nlmsghdr *message, void *arg), void *arg);

#define SOCK_DIAG_PORTS_MAX 8

/*
 * The same for the sockets of TCP with the address family @family, AF_UNSPEC: any that the kernel has, one of up to SOCK_DIAG_PORTS_MAX local
 * ports, in network order, and one of the states of the mask @states.
 */
int sock_diag_each_tcp(int family, const in_port_t *ports, size_t n, uint32_t states,
		       int (*each)(const struct inet_diag_msg *socket, void *arg), void *arg);
