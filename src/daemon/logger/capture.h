#pragma once

/*
 * The streams of a node that the logger writes, see log_rules().  They belong to the setup of a
 * start (daemon/spawn/launch.h), and outlive it.
 */

#include "daemon/logger/log-stream.h"
#include "model/base/settings.h"

/* NULL: nothing is captured; capture_open() and capture_awaits() need an object. */
struct capture;

/* Makes the streams of @config.  Return: 0 or -ENOMEM. */
int capture_new(struct capture **ret, struct context *ctx, const struct node_config *config);
struct capture *capture_free(struct capture *capture);

/* Applies the limits and formats of a reload at once to streams with an unchanged destination. */
void capture_reload(struct capture *capture, const struct node_config *config);

/*
 * Opens the stream for @fd, 1 or 2, of a process.  Return: a descriptor, CLOEXEC; -ENOTSUP if @fd
 * is not captured; or -errno.
 */
int capture_open(struct capture *capture, int fd);

/* Reports the main process of a run to the logger, see log_stream_run(). */
void capture_run(struct capture *capture, pid_t pid, uint64_t generation);

/*
 * Returns true if output of a run is still to be written after its last process, and calls @fn
 * when the caller is to ask again.  It returns false after a short time, or if the file cannot be
 * written now. @drained: all output is in the pipes.
 */
bool capture_awaits(struct capture *capture, bool drained, void (*fn)(void *arg), void *arg);

/*
 * Ends the run: unwritten output holds the node of @guard, see log_stream_hold(); with log-full =
 * drop not for longer than a second, in which the time of capture_awaits() counts.
 */
void capture_end(struct capture *capture, const struct swansong_guard *guard, unsigned generation,
		 uint64_t until_usec);

/* Releases the node, as its budget is spent. */
void capture_release(struct capture *capture);

/* Returns the stream of @kind, or NULL. */
const struct log_stream *capture_stream(const struct capture *capture, enum logger_kind kind);
