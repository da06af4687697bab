#pragma once

/* Waits for a line in the output of a service: ready = log:REGEX. */

#include "daemon/loop/context.h"
#include "daemon/streams/streams.h"

struct log_watch;

/* Makes the watch for ready of @config.  Return: 0 or -errno. */
int log_watch_new(struct log_watch **ret, struct context *ctx, const struct node_config *config);
struct log_watch *log_watch_free(struct log_watch *watch);

/*
 * Directs the output of the next run through the watch.  @streams stay the caller's.  Return: 0 or
 * -errno.
 */
int log_watch_interpose(struct log_watch *watch, struct streams *streams);

/* Returns true if all output of the run has reached its destination. */
bool log_watch_drain(struct log_watch *watch);

/* Calls @on_match once, for a line of the present run, unless log_watch_end() is called before. */
void log_watch_begin(struct log_watch *watch, void (*on_match)(void *arg), void *arg);
void log_watch_end(struct log_watch *watch);
