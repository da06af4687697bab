#pragma once

/* The logger as a whole: its process, and all of its streams (daemon/logger/stream.h). */

#include "daemon/loop/context.h"
#include "daemon/logger/rules.h"
#include "proto/logger.h"

/* Makes the logger; its process runs as @user if that is set.  Return: 0 or -errno. */
int logger_new(struct logger **ret, struct context *ctx, const struct credentials *user);
struct logger *logger_free(struct logger *logger);

/* Returns the daemon's own standard streams as they were in logger_new(). */
const struct log_sinks *logger_sinks(const struct logger *logger);

/* Allows the start of the process, which follows when there is a stream. */
void logger_begin(struct logger *logger);

/*
 * Calls @fn when the logger has begun, when it cannot be run, and when a stream begins or ceases
 * to fail, always before the log line about it.  NULL ends the calls.
 */
void logger_notify(struct logger *logger, void (*fn)(void *arg), void *arg);

/* Opens the files of the node at @path and of its descendants anew, as for logrotate. */
void logger_reopen(struct logger *logger, const char *path);

/* Sends the messages of this update turn. */
void logger_update(struct logger *logger);

/*
 * Waits until all output is written, at least half a second, and ends the process.  It waits until
 * @until_usec for output that blocks its service, for a second for other output, and no longer for
 * what has held a node for as long.  Unwritten output is logged, unless it was.
 */
void logger_stop(struct logger *logger, uint64_t until_usec);

/* --- readers: daemon/logger/view.h --- */

/* Returns false if there is no logger, and none will be started. */
bool logger_is_usable(const struct logger *logger);

/* Returns a number that changes when another logger is ready, which knows no reader. */
unsigned logger_life(const struct logger *logger);

/*
 * Sends a message about a reader.  Return: 0; -EAGAIN if the logger does not know all streams yet,
 * and another update turn follows; or -errno.
 */
int logger_send_view(struct logger *logger, struct logger_message *message, int fd);

/*
 * Calls @fn for each stream newer than *serial that has a pipe and a memory for readers, and moves
 * *serial on, until @fn returns an error.  Return: 0, or that error.
 */
int logger_each_new(const struct logger *logger, uint64_t *serial,
		    int (*fn)(const char *name, uint32_t number, void *arg), void *arg);
