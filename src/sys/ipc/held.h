#pragma once

/* Sockets that another process holds. */

#include "base/std.h"

/*
 * Takes a duplicate of the socket that process @pid listens with at @address, or receives with if @type
 * is SOCK_DGRAM.  It needs the right to trace the process.  Return: a descriptor, CLOEXEC; -ENOENT; or
 * -errno.
 */
int held_take(pid_t pid, const struct sockaddr *address, socklen_t length, int type);
