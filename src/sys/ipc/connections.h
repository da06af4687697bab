#pragma once

/* The connections that clients have made to a listening socket. */

/*
 * Returns 1 if a connection to the socket @fd is open, accepted or not, or a datagram waits in it; 0
 * if none is; or -errno if that cannot be found out.  Connections to another socket of the
 * same address count as well.
 */
int connections_are_open(int fd);
