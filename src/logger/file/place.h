#pragma once

/* Opening a log file by its path, where others may have put something there. */

#include <stdint.h>
#include <sys/types.h>

/*
 * Opens the file for appending; makes it, with @mode, and the directories above it, with 0755.
 *
 * Return: CLOEXEC, or -EISDIR; -ENOTSUP: a FIFO, a socket or a device; -ELOOP, -EMLINK: a symbolic
 * link, or a file with another name, in a directory that others may write to; -errno.
 */
int place_open(const char *path, mode_t mode);

/* The directory of @path, as a descriptor, and the name in it in *name.  Return: -errno. */
int place_directory(const char *path, const char **name);
