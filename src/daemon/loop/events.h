#pragma once

/* The latest changes of state of nodes and services, in a ring. */

#include <stdbool.h>
#include <stdint.h>

#define EVENTS_MAX	512
#define EVENT_CAUSE_MAX 160 /* bytes of a cause; what is longer is cut */
#define EVENT_TEXT_MAX	216 /* bytes for all its texts; a longer reason or cause ends with "..." */

struct event {
	const char *kind; /* "node" or "service" */
	const char *node; /* its path */
	unsigned generation;
	const char *from, *to; /* constant */
	const char *reason;    /* what has happened, "" if it goes without saying */

	/* Filled in by events_add(). */
	uint64_t number;	/* of all that ever happened, without a gap */
	uint64_t realtime_usec; /* since the epoch */
	const char *cause;	/* who or what asked for it, or "" */
};

struct events;

int events_new(struct events **ret);
struct events *events_free(struct events *events);

/* What happens from now on is because of this, until NULL says that it is not. */
void events_because(struct events *events, const char *cause);

/* Copies what that is now; "" for nothing, and if @events is NULL. */
void events_cause(const struct events *events, char ret[static EVENT_CAUSE_MAX]);

/* Allocates nothing.  @events may be NULL. */
void events_add(struct events *events, const struct event *event);

/* The number of the oldest that is remembered, and of the one that is to come. */
uint64_t events_first(const struct events *events);
uint64_t events_next(const struct events *events);

/* The strings stay valid until the next events_add().  Return: is it remembered? */
bool events_get(const struct events *events, uint64_t number, struct event *ret);
