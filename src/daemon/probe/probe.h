#pragma once

/*
 * A single check of a service from outside: by a connection, a request or a command.
 *
 * A probe makes one check at a time, never longer than its timeout.  The result comes from the
 * event loop, never from inside probe_begin().  Between two checks it uses neither timer nor
 * descriptor.
 */

#include "daemon/spawn/launch.h"

struct probe;

/*
 * Makes a probe of PROBE_TCP, _UNIX, _HTTP or _EXEC.  @config and @launch are borrowed.  @on_result
 * gets the reason of a failure, valid during the call, or NULL.  Return: 0 or -errno.
 */
int probe_new(struct probe **ret, struct context *ctx, const struct probe_config *config,
	      const struct launch *launch, void (*on_result)(void *arg, const char *why),
	      void *arg);

/* Frees the probe.  A running command is killed, and is an unowned process from then on. */
struct probe *probe_free(struct probe *probe);

/*
 * Begins a check that takes @timeout_usec at most.  A command holds the node as @main does.  There
 * is one result, unless probe_cancel() is called before.
 */
void probe_begin(struct probe *probe, const struct process *main, uint64_t timeout_usec);

/* Cancels the check; a command is killed with its whole session. */
void probe_cancel(struct probe *probe);
