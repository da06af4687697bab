#pragma once

/*
 * Starts a process by clone3.  The parent goes on at once: the steps of the child until its program
 * runs (sys/spawn/child.h) may last as long as a file system, or a process of its user, keeps them.
 * The outcome is reported by a pipe that the exec closes.
 *
 * The pid identifies a child until it is reaped, so no pidfd is used.
 */

#include "sys/spawn/block.h"

#define SPAWN_E_CHILD	1 /* a step in the child failed */
#define SPAWN_E_PENDING 2 /* the program does not run yet */

/* A process of which the program may not run yet.  All zero: none. */
struct spawning {
	pid_t pid;
	int fd; /* with a block: readable when spawn_check() has a new result; -1: see there */
	struct spawn_block *block; /* NULL: its outcome is known */
};

/*
 * Creates a process.  All signals that have a handler must be blocked.  Other threads must not
 * change credentials.  *error is errno of the control group if the child is outside of it, as the
 * kernel refused that; else 0.
 *
 * Return: 0 with *ret, for spawn_check(); or -errno.
 */
int spawn_begin(const struct spawn_spec *spec, struct spawn_pool *pool, struct spawning *ret,
		int *error);

/* The child of @s is dead: its outcome is known from now on. */
void spawn_note_death(const struct spawning *s);

/*
 * Finds out whether the program of @s runs, and does not wait.
 * Without a descriptor, as none was free, it must be dead.
 *
 * failure->lowered has the limits that were lowered, in each case.
 *
 * Return: 0: the program runs, or the child was killed before; SPAWN_E_CHILD: *failure has the step
 * and errno, and the child is dead or about to end; SPAWN_E_PENDING.
 */
int spawn_check(struct spawning *s, struct spawn_pool *pool, struct spawn_failure *failure,
		int *error);

/* Forgets a child of which the outcome is not known.  Its memory is not used again. */
void spawn_abandon(struct spawning *s);

/* The step that the child is taking; SPAWN_STEP_NONE: none, or no descriptor. */
enum spawn_step spawn_step_of(const struct spawning *s);

/*
 * Makes the process and waits for its outcome: for a caller with nothing else to do.
 *
 * Return: 0: *pid is a running child; SPAWN_E_CHILD: *failure has the step and errno, and the
 * caller does not own the dead child, which is reaped with the unowned processes; -errno of the
 * clone.
 */
int spawn(const struct spawn_spec *spec, pid_t *pid, struct spawn_failure *failure);

/* The step as words after "cannot": "enter the directory". */
const char *spawn_step_text(enum spawn_step step);
