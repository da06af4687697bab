#pragma once

/*
 * Starts a process by clone3.  The parent is suspended until the child has executed the program or
 * failed: so the outcome is known on return, and no memory is copied.
 *
 * The pid identifies a child until it is reaped.  No pidfd is used: ten thousand services would
 * need as many descriptors, and whenever a table of descriptors grows while a child shares it,
 * Linux waits for all processors.
 */

#include <sys/types.h>

#include "sys/spawn/child.h"

#define SPAWN_E_CHILD 1 /* a step in the child failed */

/*
 * All signals must be blocked.  Other threads must not change credentials.
 *
 * Return: 0: *pid is a running child; SPAWN_E_CHILD: *failure has the step and errno, and the
 * caller does not own the dead child, which is reaped with the unowned processes; -errno of the
 * clone.
 */
int spawn(const struct spawn_spec *spec, pid_t *pid, struct spawn_failure *failure);

/*
 * Returns true if a child can share the table of descriptors until it leaves it by close_range().
 * Sharing costs nothing; a copy of ten thousand descriptors costs time.
 */
bool spawn_can_share(void);

/* The step as words after "cannot": "enter the directory". */
const char *spawn_step_text(enum spawn_step step);
