#pragma once

/* Brings lines from the rings to their destinations: files, descriptors, the journal, syslog. */

#include "logger/loop/state.h"

/* Finds the destination of the stream's rules.  Return: 0 or -errno. */
int deliver_attach(struct logger *logger, struct stream *stream);

/* Queues the stream if it has lines to be written, and reports output that the daemon watches. */
void deliver_queue(struct logger *logger, struct stream *stream);

/* Takes the stream out of all queues, before it is freed. */
void deliver_forget(struct logger *logger, struct stream *stream);

void deliver_event(struct logger *logger, uint32_t helper);

/* Gives portions to idle helpers and to sinks; retries failed destinations when their time has come. */
void deliver_all(struct logger *logger);

/* Returns the milliseconds until deliver_all() has to be called, or -1: at the next event. */
int deliver_timeout(const struct logger *logger);

/* Reopens the file of the stream, or, with NULL, all files. */
void deliver_reopen(struct logger *logger, const struct stream *stream);

/* Returns true if all lines before the flush of the stream are written. */
bool deliver_is_flushed(const struct stream *stream);

/* Returns false if a helper is still at work: it may hang. */
bool deliver_done(struct logger *logger);
