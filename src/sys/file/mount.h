#pragma once

/* Mount points, found without a look at their file systems, which may hang. */

/*
 * Returns the mount point above @path, by /proc/self/mountinfo, in *ret, to be freed; "/" if it is not
 * known.  Return: 0 or -ENOMEM.
 */
int mount_point_of(const char *path, char **ret);
