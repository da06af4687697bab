#pragma once

/* The listening socket of the exporter. */

#include "base/log.h"

#define LISTEN_DEFAULT "127.0.0.1:9633"

/*
 * Opens the socket at @address, HOST:PORT or unix:PATH, with a numeric host or localhost.  A socket
 * that was passed by LISTEN_FDS (sd_listen_fds(3)) takes its place.
 *
 * Return: the descriptor; -EINVAL: the address is invalid, or more than one socket was passed; -errno.  A
 * failure has been logged.
 */
int listen_open(const char *address, struct log *log);
