#pragma once

/* Steps of sys/spawn/child.h that set attributes of the new process, by the rules given there. */

#include "sys/spawn/spec.h"

/*
 * Sets the attributes that need the privileges of the parent, before the change of user.  The
 * descriptors must be in their places.  A limit that the parent may not raise stays at its hard
 * limit, an OOM score that it may not lower is not set, and both are noted in *lowered.
 *
 * Return: 0, or -errno with the step that failed in *step.
 */
long child_attributes_before_user(const struct attributes *a, volatile enum spawn_step *step,
				  unsigned *lowered);

/* The permitted capabilities of this process, a bit for each; 0 also if they cannot be read. */
uint64_t attributes_read_permitted(void);

/*
 * Drops the inheritable capabilities of this process: children then pass only the ambient set on to
 * the files that they execute.
 */
void attributes_drop_inheritable(void);

/* Sets the remaining attributes, after the change of user.  Return: likewise. */
long child_attributes_as_user(const struct attributes *a, volatile enum spawn_step *step);
