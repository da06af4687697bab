#pragma once

/*
 * Finding out that a service is ready, where it does not say so by sd_notify(3): a newline on a
 * descriptor that it was given (the readiness protocol of s6), a line of its output, or a probe
 * that is repeated until it succeeds.
 */

#include "daemon/context.h"
#include "daemon/launch.h"
#include "daemon/process.h"
#include "model/config.h"

struct readiness;

/*
 * For what @config says, or *ret is NULL if there is nothing to find out.  @launch is borrowed.
 * @on_ready is called once for each readiness_start().
 *
 * Return: 0 or -errno.
 */
int readiness_new(struct readiness **ret, struct context *ctx, const struct node_config *config,
		  const struct launch *launch, void (*on_ready)(void *arg), void *arg);
struct readiness *readiness_free(struct readiness *readiness);

/*
 * PROBE_FD: the end of the pipe that the service is to have, to be closed by the caller.
 * Return: it, or -errno.
 */
int readiness_open_fd(struct readiness *readiness);

/* Begins to look, and goes on until @main is ready or it is stopped.  Return: 0 or -errno. */
int readiness_start(struct readiness *readiness, const struct process *main);
void readiness_stop(struct readiness *readiness);

/* The command that looks, or NULL; so it is if @readiness is. */
const struct process *readiness_process(const struct readiness *readiness);
