#pragma once

/*
 * Starting a process: clone3 with a pidfd, the parent suspended until the child has exec'd or
 * failed, so that the outcome is known on return and nothing has to be copied.
 */

#include <sys/types.h>

#include "sys/child.h"

#define SPAWN_E_CHILD 1 /* the child could not do one of its steps */

/*
 * All signals must be blocked.  Threads other than the caller's must not change credentials.
 *
 * Return: 0, a running child in *pid and *pidfd (CLOEXEC; the caller closes it); SPAWN_E_CHILD, the
 * step and errno in *failure, and a child that was never there for the caller: whoever reaps
 * strangers reaps it; or -errno of the clone itself.
 */
int spawn(const struct spawn_spec *spec, pid_t *pid, int *pidfd, struct spawn_failure *failure);

/*
 * Can a child leave the table of descriptors that it shares with us until it executes?  It costs nothing
 * then; a copy of ten thousand does.
 */
bool spawn_can_share(void);

/* "enter the directory" and the like: to go after "cannot". */
const char *spawn_step_text(enum spawn_step step);
