#pragma once

/*
 * The streams that the logger writes (proto/logger-message.h): standard output or standard error of one
 * node. All processes of the node share a stream.  It survives restarts, reloads and the death of
 * the logger: it keeps both ends of the pipe, so nothing is lost meanwhile.
 *
 * Without a logger that can be executed, or without descriptors, there is no pipe:
 * log_stream_open() returns -ENOTSUP.  The output in pipes that exist goes to standard error then.
 */

#include <swansong/guard.h>

#include "daemon/loop/context.h"
#include "proto/logger-store.h"
#include "proto/logger-message.h"

struct log_stream;

/*
 * A guard on one generation of the node of a stream until its last lines are written; a stream has at
 * most one for each generation.
 */
struct log_hold {
	struct list in_stream;
	struct log_stream *stream;
	struct swansong_guard guard;
	unsigned generation;
	uint64_t id, since_usec;
	struct alarm limit; /* its release at the latest */
};

/* Finds or makes the stream of @kind of the node at @path, and counts a user.  0 or -ENOMEM. */
int log_stream_get(struct log_stream **ret, struct logging *logger, const char *path,
		   enum logger_kind kind);

/* Releases the stream; the last release removes it when its lines are written. */
struct log_stream *log_stream_put(struct log_stream *stream);

/*
 * Sets the destination and the format of further lines; @file is "" if they go to no file.  The
 * logger fills in the width of names.  Return: 0 or -ENOMEM.
 */
int log_stream_use(struct log_stream *stream, const struct logger_rules *rules, const char *file);

/*
 * Returns the end of the pipe for the next process, which can open it also by /proc as @uid; -ENOTSUP; or -errno.
 * If log_stream_is_shared() then, the process opens it anew itself (@reopen of struct spawn_spec).
 */
int log_stream_open(struct log_stream *stream, uid_t uid);
bool log_stream_is_shared(const struct log_stream *stream);

/* Returns an end for lines of the daemon itself, CLOEXEC, which the caller closes; or the same errors. */
int log_stream_dup(struct log_stream *stream);

/*
 * Notes that the run of @generation begins, with the process @pid once that is known, and 0 before;
 * if it has not begun, both are 0.
 */
void log_stream_run(struct log_stream *stream, pid_t pid, uint64_t generation);

/* Requests that all output in the pipe is written. */
void log_stream_flush(struct log_stream *stream);

/* Returns true if the requested output is written, or there is none, or no logger to write it. */
bool log_stream_is_flushed(const struct log_stream *stream);

/* The form of its lines, and their destination. */
const struct logger_rules *log_stream_rules(const struct log_stream *stream);

/* Returns its file, or the name of another destination. */
const char *log_stream_destination(const struct log_stream *stream);

/*
 * Reads the counts of the logger.  *trouble is the reason for which output does not reach the destination now, valid until
 * the next call; or NULL.  Return: 0, or -errno if there are no counts.
 */
int log_stream_count(const struct log_stream *stream, struct store_counts *ret,
		     const char **trouble);

/* --- guards: a node is not Complete before the last line is written --- */

/*
 * Holds the node of @guard, which is cloned, until the output in the pipe is written, or until
 * @until_usec, when the missing output is logged.  Without memory, nothing is held.
 */
void log_stream_hold(struct log_stream *stream, const struct swansong_guard *guard,
		     unsigned generation, uint64_t until_usec);

/* Releases all holds, as the budget is spent; missing output is logged. */
void log_stream_release(struct log_stream *stream);
const struct list *log_stream_holds(const struct log_stream *stream);

/* --- for logging.h --- */

void log_stream_free(struct log_stream *stream);

/* Likewise, while the daemon goes on: a writer may keep the pipe locked. */
void log_stream_remove(struct log_stream *stream);

/* Handles the reply of the logger to the LOGGER_FLUSH of @cookie. */
void log_stream_flushed(struct log_stream *stream, uint64_t cookie);

/* Returns true if output is in the ring of the logger or in the pipe. */
bool log_stream_is_missing(const struct log_stream *stream);

/* At the end of the daemon: output that is not written is logged, if it was not. */
void log_stream_end(struct log_stream *stream);
