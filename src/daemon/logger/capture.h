#pragma once

/*
 * The streams of a node that the logger writes, see log_rules().  They belong to the setup of a
 * start (daemon/spawn/launch.h), and outlive it.
 */

#include "daemon/logger/log-stream.h"

/* Bytes of a line that are compared at once; a longer line is compared in pieces. */
#define CAPTURE_LINE_MAX 4096

/* NULL: nothing is captured; capture_open() needs an object. */
struct capture;

/* Makes the streams of @config.  Return: 0 or -ENOMEM. */
int capture_new(struct capture **ret, struct context *ctx, const struct node_config *config);
struct capture *capture_free(struct capture *capture);

/* Applies the limits and formats of a reload at once to streams with an unchanged destination. */
void capture_reload(struct capture *capture, const struct node_config *config);

/*
 * Opens the stream for @fd, 1 or 2, of a process.  Return: see log_stream_open(); -ENOTSUP also
 * if @fd is not captured.
 */
int capture_open(struct capture *capture, int fd);

/* Reports the main process of a run to the logger, see log_stream_run(). */
void capture_run(struct capture *capture, pid_t pid, uint64_t generation);

/*
 * ready = log:REGEX: the lines to be compared are those of the process that is made next; all of them, also
 * when another logger follows: the service waits while more than the ring holds was not compared.
 *
 * Return: 0; -ENOTSUP: no logger has its output; or -errno.
 */
int capture_mark(struct capture *capture);

/* Calls @fn, which ends this by another call with NULL, for a line that matches. */
void capture_watch(struct capture *capture, void (*fn)(void *arg), void *arg);

/*
 * Returns true if output is still to be written after the last process of a run, and calls @fn when the caller
 * should ask again.  It returns false after a short time, or if the file cannot be written now, or without memory.
 */
bool capture_awaits(struct capture *capture, void (*fn)(void *arg), void *arg);

/*
 * Ends the run: unwritten output holds the node of @guard, see log_stream_hold(); with log-full =
 * drop not for longer than a second, in which the time of capture_awaits() counts.
 */
void capture_end(struct capture *capture, const struct swansong_guard *guard, unsigned generation,
		 uint64_t until_usec);

/* Releases the node, as its budget is spent. */
void capture_release(struct capture *capture);

/* Searches the new lines of @stream, which has a reader, for the text that it waits for; after a LOGGER_WATCH. */
void capture_read(struct log_stream *stream);

/* Returns the stream of @kind, or NULL. */
const struct log_stream *capture_stream(const struct capture *capture, enum logger_kind kind);
