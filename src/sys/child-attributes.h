#pragma once

/* What a new process does to itself, one step of sys/child.h after the other, and by its rules. */

#include "sys/child.h"

/*
 * What needs the privileges that are given up with the user; the descriptors are in their places.
 *
 * Return: SPAWN_STEP_NONE, or the step that failed, with errno; and which limit in *limit.
 */
enum spawn_step child_attributes_before_user(const struct attributes *a, int *limit);

/* What is left to do as the user.  Return: likewise. */
enum spawn_step child_attributes_as_user(const struct attributes *a);
