#pragma once

/*
 * Finds out when a service is ready that does not use sd_notify(3): by a newline on a descriptor
 * (the readiness protocol of s6), a line of its output, a repeated probe, or its settle-time.
 */

#include "daemon/spawn/launch.h"

struct readiness;

/*
 * Makes the object; *ret is NULL if there is nothing to find out.  @launch is borrowed.  @on_ready
 * is called at most once for each readiness_start().  Return: 0 or -errno.
 */
int readiness_new(struct readiness **ret, struct context *ctx, const struct node_config *config,
		  const struct launch *launch, void (*on_ready)(void *arg), void *arg);
struct readiness *readiness_free(struct readiness *readiness);

/* PROBE_FD: returns the service's end of the socket, which the caller closes; or -errno. */
int readiness_open_fd(struct readiness *readiness);

/* Before the main process is made: a port that is open already is noted. */
void readiness_prepare(struct readiness *readiness);

/* Begins, until @main is ready or readiness_stop() is called.  Return: 0 or -errno. */
int readiness_start(struct readiness *readiness, const struct process *main);
void readiness_stop(struct readiness *readiness);

/*
 * Logs the reason of a failure before the service was ready: a foreign process on the port, or the
 * last result of a command; nothing if readiness_start() has not been called, as the main process
 * could not be made.
 */
void readiness_explain_failure(struct readiness *readiness);

/* Returns the command of a running check, or NULL.  @readiness may be NULL. */
const struct process *readiness_process(const struct readiness *readiness);
