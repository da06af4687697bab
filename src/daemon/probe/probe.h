#pragma once

/*
 * Looking once whether a service is well, from outside: by a connection, a request, a command.
 *
 * One look at a time, never longer than its timeout, and what came of it is told from the event
 * loop, never from inside probe_begin().  Nothing waits, and nothing is armed between two looks.
 */

#include "daemon/loop/context.h"
#include "daemon/spawn/launch.h"
#include "daemon/loop/process.h"
#include "model/config/config.h"

struct probe;

/*
 * For PROBE_TCP and all kinds after it.  @config and @launch are borrowed.  @on_result gets the
 * reason for a failure, or NULL; the text is valid during the call only.  Return: 0 or -errno.
 */
int probe_new(struct probe **ret, struct context *ctx, const struct probe_config *config,
	      const struct launch *launch, void (*on_result)(void *arg, const char *why),
	      void *arg);

/* A command that still runs is killed; it is somebody else's then. */
struct probe *probe_free(struct probe *probe);

/*
 * Looks, for @timeout_usec at most.  A command holds the node as @main does.  There is one
 * result, unless probe_cancel() is called before.
 */
void probe_begin(struct probe *probe, const struct process *main, uint64_t timeout_usec);

/* No result any more; a command is killed with all of its session. */
void probe_cancel(struct probe *probe);
