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
#include "proto/logger-store.h"
#include "proto/logger.h"

struct log_stream;
struct logger;

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

/* Called when it is flushed, and when its destination has failed; NULL: no longer. */
void log_stream_notify(struct log_stream *stream, void (*fn)(void *arg), void *arg);

/* The destination has failed, as last known. */
bool log_stream_is_failing(const struct log_stream *stream);

/* How its lines are written, and where to. */
const struct logger_rules *log_stream_rules(const struct log_stream *stream);

/* Its file, or a name for what is none. */
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

/* --- for logger.h --- */

void log_stream_free(struct log_stream *stream);

/* The logger has replied to the LOGGER_FLUSH of @cookie. */
void log_stream_flushed(struct log_stream *stream, uint64_t cookie);

/* The logger has said so. */
void log_stream_set_failing(struct log_stream *stream, bool failing);

/* Returns the number of bytes in the ring of the logger and in the pipe. */
uint64_t log_stream_missing(const struct log_stream *stream);

/* The log says how much is in the ring of the logger and in the pipe, if it is anything. */
void log_stream_log_missing(const struct log_stream *stream);
