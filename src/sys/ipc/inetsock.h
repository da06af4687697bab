#pragma once

/* Listening and receiving sockets of the internet protocols. */

#include <sys/socket.h>

/*
 * Opens a socket at @address: SOCK_STREAM listens, SOCK_DGRAM receives.  CLOEXEC, blocking.
 * Remaining connections of an earlier listener do not block the address (SO_REUSEADDR).
 *
 * Return: the descriptor, or -errno.
 */
int inet_listen(const struct sockaddr *address, socklen_t length, int type);
