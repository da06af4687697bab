#pragma once

/* Files in which daemons write the pid of their main process. */

#include "base/std.h"

/*
 * Reads the pid in the first line of @path, which must be a regular file; *owner is its user.  Never
 * follows a link, waits, or reads more than a line.
 *
 * Return: 0, or -errno with the reason in *why, a constant text.
 */
int pid_file_read(const char *path, pid_t *ret, uid_t *owner, const char **why);
