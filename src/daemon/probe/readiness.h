#pragma once

/*
 * Finding out that a service is ready, where it does not say so by sd_notify(3): a newline on a
 * descriptor that it was given (the readiness protocol of s6), a line of its output, or a probe
 * that is repeated until it succeeds; or only that it runs for its settle-time.
 */

#include "daemon/loop/context.h"
#include "daemon/spawn/launch.h"
#include "daemon/loop/process.h"
#include "model/config/config.h"

struct readiness;

/*
 * *ret is NULL if there is nothing to find out.  @launch is borrowed.  @on_ready is called once
 * for each readiness_start().  Return: 0 or -errno.
 */
int readiness_new(struct readiness **ret, struct context *ctx, const struct node_config *config,
		  const struct launch *launch, void (*on_ready)(void *arg), void *arg);
struct readiness *readiness_free(struct readiness *readiness);

/* PROBE_FD: the service's end of the pipe, to be closed by the caller.  Return: it, or -errno. */
int readiness_open_fd(struct readiness *readiness);

/* Before the main process is made. */
void readiness_prepare(struct readiness *readiness);

/* Begins to look, and goes on until @main is ready or it is stopped.  Return: 0 or -errno. */
int readiness_start(struct readiness *readiness, const struct process *main);
void readiness_stop(struct readiness *readiness);

/* The service has failed before it was ready: logs the reason if its port is another's. */
void readiness_explain_failure(struct readiness *readiness);

/* The command that looks, or NULL; so it is if @readiness is. */
const struct process *readiness_process(const struct readiness *readiness);
