#pragma once

/*
 * The pipe of a stream.  Both of its ends stay with the daemon, so that it lives without a logger and
 * without a process that writes.  Nothing is read or written here.
 */

#include <sys/types.h>

/* Of the numbers of the ends, the lowest. */
int log_pipe_first(void);

/*
 * Makes a pipe with both ends, CLOEXEC, from the number @first on.
 *
 * Return: an end for the first process, CLOEXEC, the caller's to close; or -errno, and there is none.
 */
int log_pipe_new(int fds[static 2], int first);

/*
 * An end for a process, of its own: it may set O_NONBLOCK.
 *
 * Return: CLOEXEC, the caller's to close; or -errno.
 */
int log_pipe_open(const int fds[static 2]);

/* The process may open it by /proc as @uid; -1: as the daemon. */
void log_pipe_own(const int fds[static 2], uid_t uid);
