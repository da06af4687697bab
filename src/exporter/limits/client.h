#pragma once

/* The other end of a connection. */

#include <microhttpd.h>

#include "base/std.h"

#define CLIENT_TEXT_MAX 64

/* "192.0.2.7, port 4711", "uid 33, pid 812", or "an unknown client".  Returns @buf. */
char *client_text(char buf[static CLIENT_TEXT_MAX], struct MHD_Connection *connection);

/* Returns the value of the header @name of the request, or NULL. */
const char *client_header(struct MHD_Connection *connection, const char *name);

/*
 * Returns a number that connections of one client have in common: of the same address, the same network of
 * 64 bits with IPv6, or the same user with a socket of Unix.
 */
uint32_t client_hash(struct MHD_Connection *connection);
