#pragma once

/*
 * The output of a node as far as the logger writes it, see log_rules().
 * Part of what a start is made with (daemon/spawn/launch.h); the streams themselves outlive it.
 */

#include "daemon/logger/stream.h"
#include "model/base/settings.h"

struct capture;

/* *ret is NULL if nothing is captured.  Return: 0 or -ENOMEM. */
int capture_new(struct capture **ret, struct context *ctx, const struct node_config *config);
struct capture *capture_free(struct capture *capture);

/* Other limits and forms, of a reload, count at once for a destination that stays. */
void capture_reload(struct capture *capture, const struct node_config *config);

/* Returns true if standard error has a stream of its own; @capture may be NULL. */
bool capture_is_apart(const struct capture *capture);

/* What becomes @fd, 1 or 2, of a process.  Return: CLOEXEC; -ENOTSUP: not captured; -errno. */
int capture_open(struct capture *capture, int fd);

void capture_run(struct capture *capture, pid_t pid, uint64_t generation);

/*
 * After the last process of a run: is what it wrote still to be written?  Then @fn is called to ask
 * again.  Not for long, and not if the file cannot be written now.  @drained: all is in the pipes.
 */
bool capture_awaits(struct capture *capture, bool drained, void (*fn)(void *arg), void *arg);

/* The run is over: what is not written holds the node of @guard, see log_stream_hold(). */
void capture_end(struct capture *capture, const struct swansong_guard *guard, unsigned generation,
		 uint64_t until_usec);

/* The budget of the node is spent. */
void capture_release(struct capture *capture);

/* The stream of @kind, or NULL. */
const struct log_stream *capture_stream(const struct capture *capture, enum logger_kind kind);
