#pragma once

/* The journal and syslog: programs that take lines one by one, without a helper. */

#include "logger/loop/state.h"

/* Connects to the program, unless it is connected.  Return: 0, or -errno: there is none. */
int sink_open(struct logger *logger, enum sink_kind kind);

/*
 * Sends a limited number of lines of the stream.
 *
 * Return: 0: there is none left; 1: there is more; -EAGAIN: an event of WATCH_SINK follows; or -errno,
 * and the sink is closed.
 */
int sink_write(struct logger *logger, enum sink_kind kind, struct stream *stream);

/* Goes on with the streams of the sink when its program takes more. */
void sink_event(struct logger *logger, enum sink_kind kind);

void sinks_init(struct logger *logger);
void sinks_done(struct logger *logger);
