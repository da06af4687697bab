#pragma once

/* The logger as a whole: its process, and all of its streams (daemon/logger/stream.h). */

#include "daemon/loop/context.h"
#include "daemon/logger/rules.h"
#include "proto/logger.h"

/* The process runs as @user, if that is set.  Return: 0 or -errno. */
int logger_new(struct logger **ret, struct context *ctx, const struct credentials *user);
struct logger *logger_free(struct logger *logger);

/* The daemon's own standard streams, as they were in logger_new(). */
const struct log_sinks *logger_sinks(const struct logger *logger);

/* From now on the process is started when a stream is there. */
void logger_begin(struct logger *logger);

/*
 * @fn is called when the logger has begun, when it cannot be run, and when a stream fails or no longer
 * does, before that is logged; NULL: no longer.
 */
void logger_notify(struct logger *logger, void (*fn)(void *arg), void *arg);

/* The files of the node at @path, and below, are opened anew, as for logrotate. */
void logger_reopen(struct logger *logger, const char *path);

/* Sends what is to be sent in this turn. */
void logger_update(struct logger *logger);

/* All is written, or is not by @until_usec, which is logged; the process ends. */
void logger_stop(struct logger *logger, uint64_t until_usec);

/* --- readers: daemon/logger/view.h --- */

/* Returns false if there is no logger, and will be none. */
bool logger_is_usable(const struct logger *logger);

/* Changes when another logger is ready: it knows no reader. */
unsigned logger_life(const struct logger *logger);

/* Return: 0; -EAGAIN: it does not know all streams, and another update turn follows; or -errno. */
int logger_send_view(struct logger *logger, struct logger_message *message, int fd);

/*
 * Calls @fn for all streams with a pipe and a memory for readers that are newer than *serial, which moves on, until that returns
 * an error.  Return: 0, or what @fn has returned.
 */
int logger_each_new(const struct logger *logger, uint64_t *serial,
		    int (*fn)(const char *name, uint32_t number, void *arg), void *arg);
