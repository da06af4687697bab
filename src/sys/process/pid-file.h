#pragma once

/* Files in which daemons write the pid of their main process. */

#include "base/std.h"

#define PID_FILE_OWNERS 3

/*
 * Reads the pid in the first line of @path, which must be a regular file of root or of one of
 * @owners.  Never follows a link, waits, or reads more than a line.
 *
 * Return: 0, or -errno with the reason in *why, a constant text.
 */
int pid_file_read(const char *path, const uid_t owners[static PID_FILE_OWNERS], pid_t *ret,
		  const char **why);
