#pragma once

/*
 * The history in a file: a stream of the logger like the output of a service, so that the daemon
 * never waits for the disk.  The file and the one before it have at most HISTORY_LOG_MAX bytes
 * together. Without a logger there is no history.
 */

#include "daemon/loop/context.h"

#define HISTORY_LOG_MAX (4 * 1024 * 1024)

/* Makes the history in the file @path.  @ctx has a logger.  Return: 0 or -ENOMEM. */
int history_log_new(struct history_log **ret, struct context *ctx, const char *path);

/* Frees the object; the logger still writes the lines that are in the pipe, if it can. */
struct history_log *history_log_free(struct history_log *history);

/* Writes to another file from now on.  Return: 0 or -ENOMEM. */
int history_log_use(struct history_log *history, const char *path);

/*
 * Adds a line of @size bytes with its newline, at most HISTORY_LINE_MAX, whole or not at all; the
 * log has the number of missing lines.
 */
void history_log_add(struct history_log *history, const char *line, size_t size);
#define HISTORY_LINE_MAX PIPE_BUF
