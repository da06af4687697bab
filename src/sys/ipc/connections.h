#pragma once

/*
 * Connections of other programs: those that are open to a socket, and those that come to ports of TCP of this network
 * namespace, at which any process listens.  The kernel announces the end of each connection; those that have come and
 * not ended are counted.
 */

#include <sys/un.h>

#include "sys/ipc/sock-diag.h"

/* The addresses that connections go to. */
union socket_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/*
 * Returns 1 if a connection to the socket @fd is open, accepted or not, or a datagram waits in it; 0
 * if none is; or -errno if that cannot be found out.  Connections to another socket of the
 * same address count as well.
 */
int connections_are_open(int fd);

/* More connections are not counted: each look returns 1 then. */
#define ARRIVALS_MAX 10000

#define ARRIVALS_PORTS_MAX SOCK_DIAG_PORTS_MAX

struct arrivals {
	in_port_t ports[ARRIVALS_PORTS_MAX];
	size_t n_ports;
	int fd;	     /* of the announced ends; -1: it does not watch */
	size_t open; /* connections at the last look */
};

/*
 * Begins to watch up to ARRIVALS_PORTS_MAX ports, in network order; @arrivals does not watch.
 * Return: 0 or -errno.
 */
int arrivals_begin(struct arrivals *arrivals, const in_port_t *ports, size_t n);
void arrivals_end(struct arrivals *arrivals);

/*
 * Returns 1 if a connection has come, or one has ended, since the last call or the begin; 0 if not; or
 * -errno.  It does not wait, but the kernel goes through its table of connections.
 */
int arrivals_look(struct arrivals *arrivals);
