#pragma once

/* What a new process does to itself, one step of sys/spawn/child.h after the other, and by its rules. */

#include "sys/spawn/spec.h"

/*
 * What needs the privileges that are given up with the user; the descriptors are in their places.
 *
 * Return: SPAWN_STEP_NONE, or the step that failed, with errno; and which limit in *limit.
 */
enum spawn_step child_attributes_before_user(const struct attributes *a, int *limit);

/*
 * From now on no capability is left to our children for the files that they execute, but for those
 * of the ambient set, which is meant for them.
 */
void attributes_drop_inheritable(void);

/* What is left to do as the user.  Return: likewise. */
enum spawn_step child_attributes_as_user(const struct attributes *a);
