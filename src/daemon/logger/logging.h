#pragma once

/* The logger as a whole: its process, and all of its streams (daemon/logger/log-stream.h). */

#include "daemon/loop/context.h"
#include "daemon/logger/rules.h"

struct log_stream;

/* Makes the logger; its process runs as @user if that is set.  Return: 0 or -errno. */
int logging_new(struct logging **ret, struct context *ctx, const struct credentials *user);
struct logging *logging_free(struct logging *logger);

/* Allows the start of the process, which follows when there is a stream. */
void logging_begin(struct logging *logger);

/*
 * Calls @fn when the logger has begun, when it cannot be run, and when a stream begins or ceases
 * to fail, always before the log line about it.  NULL ends the calls.
 */
void logging_notify(struct logging *logger, void (*fn)(void *arg), void *arg);

/* Opens the files of the node at @path and of its descendants anew, as for logrotate. */
void logging_reopen(struct logging *logger, const char *path);

/* TASK_LOGGER: sends the messages of this update turn. */
void logging_update(struct context *ctx);

/*
 * Waits until all output is written, at least half a second, and ends the process.  It waits until @until_usec
 * for output with log-full = block, and a second for other output, less the time that its node has waited.
 * Unwritten output is logged, unless it was.
 */
void logging_stop(struct logging *logger, uint64_t until_usec);

/* --- readers: daemon/logger/subscription.h --- */

/* Returns false if there is no logger, and none will be started. */
bool logging_is_usable(const struct logging *logger);

/*
 * Calls @fn for each stream newer than *serial that has a memory for readers, and moves *serial on,
 * until @fn returns an error.  With its first pipe a stream is newer.  Return: 0, or that error.
 */
int logging_each_new(const struct logging *logger, uint64_t *serial,
		     int (*fn)(const struct log_stream *stream, void *arg), void *arg);
