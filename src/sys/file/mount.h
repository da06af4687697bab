#pragma once

/* Mount points, found without a look at their file systems, which may hang. */

#include "base/std.h"

/*
 * Returns the mount point above @path, by /proc/self/mountinfo, in *ret, to be freed; "/" if it is not
 * known.  Return: 0 or -ENOMEM.
 */
int mount_point_of(const char *path, char **ret);

/*
 * Returns false if the file system of @path does not answer a child process within MOUNT_ANSWER_MSEC.
 * Only file systems that another machine or a program serves are asked.  For a caller that must not
 * wait, before it opens @path.  The child is reaped with the unowned processes.
 */
#define MOUNT_ANSWER_MSEC 40
bool mount_answers(const char *path);
