#pragma once

/* From the pipes to the rings, and from there to readers. */

#include "logger/loop/state.h"

/* The pipe is read when there is something. */
int input_watch(struct logger *logger, struct stream *stream);

/* There is something. */
void input_take(struct logger *logger, struct stream *stream);

/* Empties the pipe, and ends the line that has not ended. */
void input_take_all(struct logger *logger, struct stream *stream);

/* Pipes whose ring was full are read again where there is room. */
void input_resume(struct logger *logger);

/* May a process still write?  A pipe that is read is at its end when that has been read. */
bool input_has_writers(const struct logger *logger);

/* Milliseconds until a pipe that waits is looked at, or -1. */
int input_timeout(const struct logger *logger);

void input_remove(struct logger *logger, struct stream *stream);

/* Readers get what is new. */
void input_show(struct logger *logger);
void input_show_event(struct logger *logger, uint32_t view);
