#pragma once

/*
 * The output of a node as far as the logger writes it: log = file:PATH, and stdout and stderr likewise.
 * Part of what a start is made with (daemon/spawn/launch.h); the streams themselves outlive it.
 */

#include "daemon/logger/stream.h"
#include "model/base/settings.h"

struct capture;

/* The limits and the form of the lines, as @config has them. */
void capture_rules(struct logger_rules *rules, const struct node_config *config,
		   enum logger_kind kind);

/* *ret is NULL if nothing is captured.  Return: 0 or -ENOMEM. */
int capture_new(struct capture **ret, struct context *ctx, const struct node_config *config);
struct capture *capture_free(struct capture *capture);

/* Other limits, of a reload, count at once for a file that stays. */
void capture_reload(struct capture *capture, const struct node_config *config);

/* What becomes @fd, 1 or 2, of a process.  Return: CLOEXEC; -ENOTSUP: write to the file; -errno. */
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
