#pragma once

/* Streams with much output lately: what makes them fast, for as long as they are. */

#include "logger/loop/state.h"

/* Notes the size of the pipe while the stream is not loud. */
void loud_add(struct stream *stream);

/* Frees, now or soon, the part of the ring of a written stream that need not be kept for readers. */
void loud_trim(struct logger *logger, struct stream *stream);

/* Makes streams quiet that have been loud for their time. */
void loud_update(struct logger *logger);

/* Returns the milliseconds until loud_update() has to be called, or -1. */
int loud_timeout(const struct logger *logger);

/* Returns true if the stream is loud, and the kernel has allowed it a larger pipe. */
bool loud_has_larger_pipe(const struct stream *stream);

void loud_forget(struct logger *logger, struct stream *stream);
