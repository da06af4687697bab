#pragma once

/*
 * The pipe of a stream.  The daemon keeps both of its ends, so the pipe survives without a logger
 * and without a process that writes.  The daemon does not write it, and reads it only where no
 * logger can be run.
 */

#include <systemd/sd-event.h>

#include "base/std.h"

/* Makes a pipe with both ends, CLOEXEC, of high numbers.  Return: 0, or -errno without a pipe. */
int log_pipe_new(int fds[static 2]);

/*
 * Returns true if output is in the pipe, without an operation that would wait while a writer keeps the pipe
 * locked (sys/ipc/passed.h).
 */
bool log_pipe_has_output(const int fds[static 2]);

/* Closes both ends, without such a wait, and sets them to -1. */
void log_pipe_close(int fds[static 2]);

/*
 * Passes output on to standard error, as long as that has room; else it is lost.  No process may
 * read the pipe.  *drain is a source of @event, which may exist; without memory it stays NULL.
 */
void log_pipe_begin_drain(const int fds[static 2], sd_event *event, sd_event_source **drain);
void log_pipe_end_drain(sd_event_source **drain);
