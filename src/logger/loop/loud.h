#pragma once

/* Streams with much output lately: what makes them fast, for as long as they are. */

#include "logger/loop/state.h"

/* Takes the size of the pipe for the one that it has while the stream is not loud. */
void loud_add(struct stream *stream);

/* Frees what readers are not promised of the ring of a stream that was written, now or soon. */
void loud_trim(struct logger *logger, struct stream *stream);

/* Ends the time of the streams that have had theirs. */
void loud_update(struct logger *logger);

/* Returns the milliseconds until loud_update() has to be called, or -1. */
int loud_timeout(const struct logger *logger);

/* Returns true if the stream is loud, and the kernel has allowed it a larger pipe. */
bool loud_has_larger_pipe(const struct stream *stream);

void loud_forget(struct logger *logger, struct stream *stream);
