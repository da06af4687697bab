#pragma once

/*
 * Starting a process: clone3, the parent suspended until the child has exec'd or failed, so that
 * the outcome is known on return and nothing has to be copied.
 *
 * A child keeps its pid until we collect it, so that is enough to know it by.  A pidfd for each
 * would be ten thousand descriptors for as many services, and whenever a table grows that a child
 * shares at that moment, Linux waits for all processors.
 */

#include <sys/types.h>

#include "sys/spawn/child.h"

#define SPAWN_E_CHILD 1 /* the child could not do one of its steps */

/*
 * All signals must be blocked.  Threads other than the caller's must not change credentials.
 *
 * Return: 0, a running child in *pid; SPAWN_E_CHILD, the step and errno in *failure, and a child
 * that was never there for the caller: whoever reaps strangers reaps it; or -errno of the clone
 * itself.
 */
int spawn(const struct spawn_spec *spec, pid_t *pid, struct spawn_failure *failure);

/*
 * Can a child leave the table of descriptors that it shares with us until it executes?  It costs
 * nothing then; a copy of ten thousand does.
 */
bool spawn_can_share(void);

/* "enter the directory" and the like: to go after "cannot". */
const char *spawn_step_text(enum spawn_step step);
