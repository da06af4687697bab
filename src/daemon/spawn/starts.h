#pragma once

/*
 * Processes that are made, and do not run their program yet: a file system or another process may
 * keep them for any time.  The event loop learns from a pipe of each how that ends.
 */

#include "daemon/loop/context.h"
#include "daemon/loop/process.h"

/*
 * Called once for each process of starts_begin(): when it runs its program (why->step is
 * SPAWN_STEP_NONE), or could not run it and is about to end by itself.  @refused is the errno of the control group if the
 * process has found itself outside of it; else 0.
 */
typedef void starts_fn(struct process *process, const struct spawn_failure *why, int refused,
		       void *arg);

int starts_new(struct starts **ret, struct context *ctx, starts_fn *fn, void *arg);
struct starts *starts_free(struct starts *starts);

/*
 * Makes a process by @spec and enters @process in the table.  Nothing is allocated but the memory
 * that the kernel needs for a process, and for its stack.  *refused is the errno of the control
 * group, if the process is outside of it; else 0.  Return: 0 or -errno.
 */
int starts_begin(struct starts *starts, const struct spawn_spec *spec, struct process *process,
		 int *refused);

/*
 * Returns false if so many starts are pending that more would only make each slower.  There is room again when
 * some of them end, or else after a moment, so that starts that hang hold up no others.
 */
bool starts_have_room(struct starts *starts);

/*
 * Handles the end of @process, which is not collected yet.
 *
 * Return: true if it could not run its program: the function of starts_new() has been called.
 */
bool starts_end(struct starts *starts, struct process *process);
