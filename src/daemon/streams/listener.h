#pragma once

/*
 * Open sockets that are given to services, or at which agents answer.  They are bound when the
 * configuration is loaded, so a connection that comes while its service is restarted waits in the
 * kernel.
 *
 * An address has one socket: services that name the same address share it, and so do an agent and
 * the one that replaces it in a reload.
 */

#include "daemon/loop/context.h"
#include "model/config/config.h"
#include "model/keys/keys.h"

struct listener;

/*
 * Shares or opens the socket @listen of @key, KEY_LISTEN or KEY_AGENT, of @config.  A fault is logged,
 * and its text is kept in the context.  A socket that a process of an earlier daemon has is taken from it.
 *
 * Return: 0; -EBUSY: there is such a process, without the right to do that; or -errno.
 */
int listener_get(struct listener **ret, struct context *ctx, const struct node_config *config,
		 enum key_id key, const struct listen *listen);

/* Releases the listener; the last release closes the socket and removes its path, if any. */
struct listener *listener_put(struct listener *listener);

/* Returns the socket, which the listener keeps. */
int listener_fd(const struct listener *listener);
