#pragma once

/*
 * Open sockets that are given to services.  They are bound when the configuration is loaded, so a
 * connection that comes while its service is restarted waits in the kernel.
 *
 * An address has one socket: services that name the same address share it.
 */

#include "daemon/loop/context.h"
#include "model/config/config.h"

struct listener;

/* Shares or opens the socket of @listen for @config; a fault is logged.  Return: 0 or -errno. */
int listener_get(struct listener **ret, struct context *ctx, const struct node_config *config,
		 const struct listen *listen);

/* Releases the listener; the last release closes the socket and removes its path, if any. */
struct listener *listener_put(struct listener *listener);

/* Returns the socket, which the listener keeps. */
int listener_fd(const struct listener *listener);
