#pragma once

/* Mount points, found without a look at their file systems, which may hang. */

#include "base/std.h"

/*
 * Returns the mount point above @path, by /proc/self/mountinfo, in *ret, to be freed; "/" if it is not
 * known.  Return: 0 or -ENOMEM.
 */
int mount_point_of(const char *path, char **ret);

/*
 * Gives a mounted directory the owner that serves it (FUSE), in place of the one that this user shows; /proc counts
 * as writable by every user, as each process has links there.  Return: 0 or -errno.
 */
int mount_correct_owner(struct stat *st);

/*
 * Returns true if all of @path is on file systems on disks and in memory, as the kernel follows it: also what links
 * in it lead to.  A file system that another machine or a program serves may hang.
 */
bool mount_is_local(const char *path);

#define MOUNT_ANSWER_MSEC 40
#define MOUNT_NAME	  "swansong-file"

/*
 * Returns false if the file system of @path is not local and does not answer a child in that time: before the path is
 * opened, if root alone may change what is there.
 */
bool mount_answers(const char *path);

/*
 * Calls @fn, which may wait for the file system of @path, for a caller that must not wait: unless that is local, in
 * a child process, a copy of this one without its descriptors above 2, for @msec at most.  What it has written to the
 * @size bytes of @arg, and a descriptor, are taken over.  The child, of the name MOUNT_NAME, is reaped with the unowned processes.
 *
 * Return: the result of @fn: a descriptor above 2, 0, 1 or -errno; -ETIMEDOUT.
 */
int mount_call(const char *path, unsigned msec, int (*fn)(void *arg), void *arg, size_t size);
