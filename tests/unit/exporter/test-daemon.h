#pragma once

/*
 * A daemon in the event loop of the test: it listens at the socket "control" of the current directory, and
 * has one reply for each method.
 */

#include <stddef.h>
#include <systemd/sd-event.h>

#include "tests/unit/exporter/test-exporter.h"

#define CONTROL "control"

/* Until @condition holds, which an event of the loop @event has to bring about. */
#define AWAIT(event, condition)                                              \
	do {                                                                 \
		while (!(condition))                                         \
			ck_assert_int_gt(sd_event_run((event), 5000000), 0); \
	} while (0)

void daemon_begin(sd_event *event);
void daemon_end(void);

/* The reply to each call of @method, such as "Status", from now on; NULL, as in the beginning: none. */
void daemon_reply(const char *method, const char *reply);

/* The next reply to a call of @method comes with the descriptor @fd, which it takes. */
void daemon_pass(const char *method, int fd);

/* A further reply, to the last call of @method. */
void daemon_add_reply(const char *method, const char *reply);

/* Ends all connections. */
void daemon_drop(void);

/* Returns the names of the methods that were called, each followed by a blank. */
const char *daemon_calls(void);

/* Returns the number of calls of @method so far, and the parameters of the last one as text. */
unsigned daemon_count(const char *method);
const char *daemon_parameters(const char *method);

/* Returns the number of connections that are open, and of those that the other side has ended. */
size_t daemon_connections(void);
size_t daemon_ended(void);

/* The time of an event source that is set to go off in @usec is over at once from now on. */
void timers_skip(uint64_t usec);

/* Returns how often an event source was set to go off in @usec. */
unsigned timers_count(uint64_t usec);
