#pragma once

/*
 * Open sockets that are given to services: bound when the configuration is loaded, so that a
 * connection that comes while its service is restarted waits in the kernel.
 *
 * One address is one socket: services that name the same share it.
 */

#include "daemon/loop/context.h"
#include "model/config/config.h"

struct listener;

/* Shares or opens the socket of @listen for @who; a fault is logged.  Return: 0 or -errno. */
int listener_get(struct listener **ret, struct context *ctx, const struct node_config *who,
		 const struct listen *listen);

/* Who lets go last closes it; a path of the file system is removed then. */
struct listener *listener_put(struct listener *listener);

int listener_fd(const struct listener *listener);
