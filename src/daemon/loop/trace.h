#pragma once

/*
 * What a shutdown of the root leaves behind for the report: of each node when it was stopped and
 * Complete, what its service went through, and who held it.  A trace is made with its node, and
 * outlives it once the root is stopped; guards have places that were reserved by then.  So nothing
 * here allocates in a shutdown; what finds no place is counted.  The ring of daemon/events.h is too
 * short for a large tree.
 *
 * Where no report is wanted there are no traces: functions that are told of one do nothing with
 * NULL.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "proto/view.h"

#define TRACE_STATES_MAX 16
#define TRACE_TEXT_MAX	 168 /* bytes for a guard's command and reason; what is longer is cut */
#define TRACE_CAUSE_MAX	 200

struct node;

struct trace_guard {
	struct list of_trace;
	uint64_t id, pid, uid;
	uint64_t count;			/* the most that were seen; FIELD_NONE: it is one */
	uint64_t since_usec, gone_usec; /* 0: still held */
	const char *kind, *end;		/* constant; NULL: nobody knows how it ended */
	bool seen;
	unsigned char why;
	char text[TRACE_TEXT_MAX]; /* the command, and from @why on the reason */
};

struct trace_state {
	const char *state; /* constant */
	uint64_t usec;
};

struct trace {
	struct list in_traces, in_touched;
	struct traces *traces;
	struct node *node; /* NULL: it is gone */
	bool is_service, forced;
	unsigned generation;
	uint64_t stop_usec, complete_usec; /* 0: not yet */
	uint64_t late_usec, budget_usec;
	struct trace_state states[TRACE_STATES_MAX];
	unsigned n_states;
	struct list guards, *found; /* the one that was found last, or the head */
	uint64_t last_id;	    /* none that is up to this is new */
	uint64_t next_last_id;	    /* after the look that is under way */
	char path[];
};

/* All of a daemon. */
struct traces {
	struct list all, touched;
	size_t n, n_leases;
	bool wanted; /* there is to be a report */
	bool on;     /* the root is stopped */
	uint64_t stop_usec, realtime_usec;
	char cause[TRACE_CAUSE_MAX];
	struct trace_guard *places;
	size_t n_places, n_used;
	uint64_t lost;
};

void traces_init(struct traces *traces);
void traces_done(struct traces *traces);

/* Turns the report on or off; on, it reserves memory.  What finds no room is counted. */
void traces_want(struct traces *traces, bool wanted);

/* Reserves room for so many more, or fewer, guards from outside. */
void traces_expect(struct traces *traces, int more);

/* The root is stopped. */
void traces_begin(struct traces *traces, const char *cause, uint64_t now);

/* *ret is NULL if no report is wanted.  Return: 0 or -ENOMEM. */
int trace_new(struct trace **ret, struct traces *traces, struct node *node, const char *path);

/* The node is gone, or no report is wanted any more.  Returns NULL. */
struct trace *trace_free(struct trace *trace);

/* The node is stopped; @state is its service's, or NULL. */
void trace_begin(struct trace *trace, unsigned generation, const char *state, uint64_t now);

/* It is Complete. */
void trace_complete(struct trace *trace, bool forced, uint64_t late_usec, uint64_t budget_usec,
		    uint64_t now);

/* Its service is in another state. */
void trace_state(struct trace *trace, const char *state, uint64_t now);

/* Its guards may be other ones than before: they are to be looked at in this turn. */
void trace_touch(struct trace *trace);

/* One look at all guards of the node: trace_see() for each of them. */
void trace_look(struct trace *trace);
void trace_see(struct trace *trace, const struct guard_view *guard, uint64_t now);
void trace_looked(struct trace *trace, uint64_t now);

/* It has ended, or is about to, in this way (constant). */
void trace_guard_end(struct trace *trace, uint64_t id, const char *end);
