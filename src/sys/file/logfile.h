#pragma once

/* Log files at paths where other users may have put something. */

#include <stdint.h>
#include <sys/types.h>

/*
 * Opens the file for appending; makes it, with @mode, and the directories above it, with 0755.
 *
 * Return: CLOEXEC, or -EISDIR; -ENOTSUP: a FIFO, a socket or a device; -ELOOP, -EMLINK: a symbolic
 * link, or a file with another name, in a directory that others may write to; -errno.
 */
int logfile_open(const char *path, mode_t mode);

/* The directory of @path, as a descriptor, and the name in it in *name.  Return: -errno. */
int logfile_directory(const char *path, const char **name);

/*
 * Returns the error with which logfile_open() would refuse what is at @path, for a process of @uid;
 * 0: it would not, or this process may not look.  Creates nothing.
 */
int logfile_refusal(const char *path, uid_t uid);

/* Returns the reason in words why a log cannot be written; @error is an errno, as above or of a write. */
const char *logfile_error_text(int error);
