#pragma once

/* The latest changes of state of nodes and services, in a ring. */

#include "base/std.h"

#define EVENTS_MIN	512
#define EVENT_CAUSE_MAX 160 /* bytes of a cause; a longer one is cut */
#define EVENT_TEXT_MAX	216 /* bytes of all its texts; a cut one ends with "..." */

struct event {
	const char *kind; /* as in proto/interface/types.h */
	const char *node; /* its path */
	unsigned generation;
	const char *from, *to; /* constant */
	const char *reason;    /* the reason of the change, or "" */

	/* Filled in by events_add(). */
	uint64_t number;	/* counts all events, without a gap */
	uint64_t realtime_usec; /* since the epoch */
	const char *cause;	/* request or reason behind it, or "" */
};

struct events;

int events_new(struct events **ret);
struct events *events_free(struct events *events);

/*
 * Makes room for a start and a stop of @n_nodes nodes that no reader follows.  Without memory the ring is
 * as before.
 */
void events_reserve(struct events *events, size_t n_nodes);

/* Sets the cause of all further events; NULL for none. */
void events_because(struct events *events, const char *cause);

/* Copies the present cause; "" if there is none or @events is NULL. */
void events_cause(const struct events *events, char ret[static EVENT_CAUSE_MAX]);

/* Adds @event, with the present cause.  It allocates nothing.  @events may be NULL. */
void events_add(struct events *events, const struct event *event);

/* Returns the number of the oldest event that is kept; events_next() that of the next one. */
uint64_t events_first(const struct events *events);
uint64_t events_next(const struct events *events);

/*
 * Reads the event @number, with strings that are valid until the next events_add().  Returns false
 * if it is not kept any more.
 */
bool events_get(const struct events *events, uint64_t number, struct event *ret);
