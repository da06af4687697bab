#pragma once

/* From the rings to the destinations. */

#include "logger/loop/state.h"

/* Finds the destination of the stream's rules.  Return: 0 or -errno. */
int deliver_attach(struct logger *logger, struct stream *stream);

/* The stream may have something to be written. */
void deliver_queue(struct logger *logger, struct stream *stream);

/* Its destination is tried again now. */
void deliver_again(struct logger *logger, struct stream *stream);

/* The stream is going to be freed. */
void deliver_forget(struct logger *logger, const struct stream *stream);

/* A helper has something to say. */
void deliver_event(struct logger *logger, uint32_t helper);

/* Gives work to all that are idle; what failed is tried again when it is time. */
void deliver_all(struct logger *logger);

/* Milliseconds until deliver_all() is to be called again, -1: when there is news. */
int deliver_timeout(const struct logger *logger);

/* The files on the file system of the stream are opened again; all files with NULL. */
void deliver_reopen(struct logger *logger, const struct stream *stream);

/* Is all written that had been taken when the stream was flushed? */
bool deliver_is_flushed(const struct stream *stream);

/* Returns false if a helper is still at work: it may hang. */
bool deliver_done(struct logger *logger);
