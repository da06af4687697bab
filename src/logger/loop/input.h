#pragma once

/* Reads the pipes of services into the rings, and passes new lines on to readers. */

#include "logger/loop/state.h"

/* Reads the pipe whenever it has output. */
int input_watch(struct logger *logger, struct stream *stream);

void input_event(struct logger *logger, struct stream *stream);

/* Reads the pipes that are read at each tick. */
void input_tick(struct logger *logger);

/* Empties the pipe, and ends its unfinished line. */
void input_take_all(struct logger *logger, struct stream *stream);

/* Reads pipes again that were paused by a full ring, if the ring has room now. */
void input_resume(struct logger *logger);

/* Returns true if a process may still write to the pipe.  A watched pipe reports its end. */
bool input_has_writers(const struct logger *logger);

/* Returns the milliseconds until a paused pipe is checked, or -1. */
int input_timeout(const struct logger *logger);

void input_remove(struct logger *logger, struct stream *stream);

/* Writes new lines to all readers. */
void input_show(struct logger *logger);
void input_show_event(struct logger *logger, uint32_t view);
