#pragma once

/*
 * Open sockets that are given to services: bound when the configuration is loaded, so that a
 * connection that comes while its service is restarted waits in the kernel.
 *
 * One address is one socket: services that name the same share it.
 */

#include "daemon/context.h"
#include "model/config.h"

struct listener;

/*
 * That of @listen, which is opened unless somebody has it already.  Why it cannot be is in the log,
 * with the place in the configuration of @who.  Return: 0 or -errno.
 */
int listener_get(struct listener **ret, struct context *ctx, const struct node_config *who,
		 const struct listen *listen);

/* Who lets go last closes it; a path of the file system is removed then. */
struct listener *listener_put(struct listener *listener);

int listener_fd(const struct listener *listener);
