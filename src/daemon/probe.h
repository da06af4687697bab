#pragma once

/*
 * Looking once whether a service is well, from outside: by a connection, a request, a command.
 *
 * One look at a time, never longer than its timeout, and what came of it is told from the event
 * loop, never from inside probe_begin().  Nothing waits, and nothing is armed between two looks.
 */

#include "daemon/context.h"
#include "daemon/launch.h"
#include "daemon/process.h"
#include "model/config.h"
#include "sys/reap.h"

struct probe;

/*
 * For PROBE_TCP and what comes after it.  @config and @launch are borrowed.  @on_result is told why
 * it is not well, or NULL if it is; the text is gone when it returns.
 *
 * Return: 0 or -errno.
 */
int probe_new(struct probe **ret, struct context *ctx, const struct probe_config *config,
	      const struct launch *launch, void (*on_result)(void *arg, const char *why),
	      void *arg);

/* A command that still runs is killed; it is somebody else's then. */
struct probe *probe_free(struct probe *probe);

/*
 * Looks, for @timeout_usec at most.  A command holds the node as @main, the process it is about,
 * does.  There will be one result, unless probe_cancel() is called before.
 */
void probe_begin(struct probe *probe, const struct process *main, uint64_t timeout_usec);

/* No result any more; a command is killed with all of its session. */
void probe_cancel(struct probe *probe);

/* The command that runs, also if it has been cancelled; or NULL. */
const struct process *probe_process(const struct probe *probe);

/* A process of PROCESS_PROBE has died; it has not been collected yet. */
void probe_died(struct process *process, const struct reap_exit *exit);
