#pragma once

/* Steps of sys/spawn/child.h that set attributes of the new process, by the rules given there. */

#include "sys/spawn/spec.h"

/*
 * Sets the attributes that need the privileges of the parent, before the change of user.  The
 * descriptors must be in their places.
 *
 * Return: SPAWN_STEP_NONE, or the step that failed, with errno, and with the limit in *limit.
 */
enum spawn_step child_attributes_before_user(const struct attributes *a, int *limit);

/*
 * Drops the inheritable capabilities of this process: children then pass only the ambient set on to
 * the files that they execute.
 */
void attributes_drop_inheritable(void);

/* Sets the remaining attributes, after the change of user.  Return: likewise. */
enum spawn_step child_attributes_as_user(const struct attributes *a);
