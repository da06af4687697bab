#pragma once

/*
 * Finding out from outside that a service is ready: a newline on a descriptor that it was given
 * (the readiness protocol of s6), or somebody listening at a TCP address.
 */

#include "daemon/context.h"
#include "model/config.h"

struct probe;

/* @on_ready is called once for each probe_start(). */
int probe_new(struct probe **ret, struct context *ctx, const struct ready *ready,
	      void (*on_ready)(void *arg), void *arg);
struct probe *probe_free(struct probe *probe);

/*
 * READY_FD: the end of the pipe that the service is to have, to be closed by the caller.
 * Return: it, or -errno.
 */
int probe_open_fd(struct probe *probe);

/* Begins to look, and goes on until it is ready or stopped.  Return: 0 or -errno. */
int probe_start(struct probe *probe);
void probe_stop(struct probe *probe);
