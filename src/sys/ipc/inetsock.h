#pragma once

/* Sockets of the internet protocols that others are to connect or send to. */

#include <sys/socket.h>

/*
 * A socket at @address: of SOCK_STREAM it listens, of SOCK_DGRAM it receives.  CLOEXEC, blocking.
 * What is left of connections of an earlier listener does not keep the address.
 *
 * Return: the descriptor, or -errno.
 */
int inet_listen(const struct sockaddr *address, socklen_t length, int type);
