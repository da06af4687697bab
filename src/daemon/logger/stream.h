#pragma once

/*
 * The streams that the logger writes (proto/logger.h): standard output or standard error of one node.
 * A stream is shared by all that runs for the node, and stays over restarts, reloads and the logger's
 * own death: it keeps both ends of the pipe, so nothing is lost meanwhile.
 *
 * Without a logger that can be executed, or without descriptors, there is no pipe: log_stream_open()
 * says -ENOTSUP.
 */

#include "daemon/logger/hold.h"
#include "daemon/loop/context.h"
#include "daemon/loop/process.h"
#include "daemon/logger/rules.h"
#include "proto/logger-store.h"
#include "proto/logger.h"

struct log_stream;

/* Return: 0 or -ENOMEM. */
int logger_new(struct logger **ret, struct context *ctx);
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
 * Calls @fn for all streams with a pipe that are newer than *serial, which moves on, until that returns
 * an error.  Return: 0, or what @fn has returned.
 */
int logger_each_new(const struct logger *logger, uint64_t *serial,
		    int (*fn)(const char *name, uint32_t number, void *arg), void *arg);

/* --- one stream --- */

/* That of @kind of the node at @path, counted.  Return: 0 or -ENOMEM. */
int log_stream_get(struct log_stream **ret, struct logger *logger, const char *path,
		   enum logger_kind kind);

/* The last one removes the stream when its lines are written. */
struct log_stream *log_stream_put(struct log_stream *stream);

/*
 * Where the lines go, and how, from now on; @file is "" where they go to none.  The logger fills in
 * the width of names.  Return: 0 or -ENOMEM.
 */
int log_stream_use(struct log_stream *stream, const struct logger_rules *rules, const char *file);
bool log_stream_is_used(const struct log_stream *stream);

/*
 * An end for the next process, of its own: it may set O_NONBLOCK, and open it by /proc as @uid.
 *
 * Return: CLOEXEC, the caller's to close; -ENOTSUP; or -errno.
 */
int log_stream_open(struct log_stream *stream, uid_t uid);

/* A run has begun. */
void log_stream_run(struct log_stream *stream, pid_t pid, uint64_t generation);

/* All that is in the pipe now is to be written. */
void log_stream_flush(struct log_stream *stream);

/* It is, or there is nothing, or nobody to write it. */
bool log_stream_is_flushed(const struct log_stream *stream);

/* Called when it is flushed; NULL: no longer. */
void log_stream_notify(struct log_stream *stream, void (*fn)(void *arg), void *arg);

/* The destination has failed, as last known. */
bool log_stream_is_failing(const struct log_stream *stream);

/* Its file, or a name for what is none. */
/* How its lines are written, and where to. */
const struct logger_rules *log_stream_rules(const struct log_stream *stream);

const char *log_stream_destination(const struct log_stream *stream);

/* What the logger has counted.  Return: 0, or -errno if there is nothing. */
int log_stream_count(const struct log_stream *stream, struct store_counts *ret);

/* --- guards: a node is not Complete before the last line is written --- */

/*
 * Holds the node of @guard, which is cloned, until what is in the pipe now is written, or until
 * @until_usec; then the log says what is not.  Without memory it does not.
 */
void log_stream_hold(struct log_stream *stream, const struct swansong_guard *guard,
		     unsigned generation, uint64_t until_usec);

/* The budget is spent. */
void log_stream_release(struct log_stream *stream);

/* Of struct log_hold. */
const struct list *log_stream_holds(const struct log_stream *stream);
