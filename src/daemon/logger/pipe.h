#pragma once

/*
 * The pipe of a stream.  The daemon keeps both of its ends, so the pipe survives without a logger
 * and without a process that writes.  The daemon does not write it, and reads it only where no
 * logger can be run.
 */

#include <sys/types.h>
#include <systemd/sd-event.h>

/* Returns the lowest number for the ends of pipes. */
int log_pipe_first(void);

/*
 * Makes a pipe with both ends, CLOEXEC, from the number @first on.
 *
 * Return: an end for the first process, CLOEXEC, which the caller closes; or -errno without a pipe.
 */
int log_pipe_new(int fds[static 2], int first);

/*
 * Opens an end for a process, which may set O_NONBLOCK: no other process shares its flags.
 *
 * Return: the end, CLOEXEC, which the caller closes; or -errno.
 */
int log_pipe_open(const int fds[static 2]);

/* Opens the writing end of the pipe that has @end.  Return: likewise. */
int log_pipe_reopen(int end);

/*
 * Passes output on to standard error, as long as that has room; else it is lost.  No process may
 * read the pipe.  *drain is a source of @event, which may exist; without memory it stays NULL.
 */
void log_pipe_begin_drain(const int fds[static 2], sd_event *event, sd_event_source **drain);
void log_pipe_end_drain(sd_event_source **drain);
