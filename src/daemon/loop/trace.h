#pragma once

/*
 * The data for the report of a shutdown of the root, and for the history of all ends: for each node
 * its stop, its completion, the states of its service and the holders of its guards.  A trace is made
 * with its node; once the root is stopped it outlives the node.  Places for guards are reserved before the stop.  So
 * nothing is allocated in a shutdown; guards without a place are counted.  The ring of
 * daemon/loop/events.h is too short for a large tree.
 *
 * Without a report and a history there are no traces: all functions accept NULL.
 */

#include "proto/node-view.h"

#define TRACE_STATES_MAX 16
#define TRACE_TEXT_MAX	 168 /* bytes of a guard's command and reason; more is cut */
#define TRACE_CAUSE_MAX	 200
#define TRACE_WHY_MAX	 120

struct trace_guard {
	struct list of_trace;
	uint64_t id, pid, uid;
	uint64_t count;			/* highest number seen; FIELD_NONE: a single guard */
	uint64_t since_usec, gone_usec; /* 0: still held */
	const char *kind, *end;		/* constant; NULL: end not known */
	bool seen;
	unsigned char why;
	char text[TRACE_TEXT_MAX]; /* the command, and the reason at offset @why */
};

struct trace_state {
	const char *state; /* constant */
	uint64_t usec;
};

struct trace {
	struct list in_traces, in_touched, in_ended;
	struct traces *traces;
	struct node *node; /* NULL: freed */
	bool is_service, forced;
	bool early; /* its service was killed early, for services of a higher stop-priority */
	unsigned generation;
	uint64_t stop_usec, complete_usec; /* 0: not yet */
	uint64_t late_usec, budget_usec;
	struct trace_state states[TRACE_STATES_MAX];
	unsigned n_states;
	char why[TRACE_WHY_MAX];    /* the reason of the end; may be cut */
	struct list guards, *found; /* the result of the last search, or the head */
	uint64_t last_id;	    /* guards up to this id were seen before */
	uint64_t next_last_id;	    /* the same after the present look */
	char path[];
};

/* The traces of the daemon. */
struct traces {
	struct list all, touched;
	struct list ended; /* traces with an end that the history does not have yet */
	struct list free;  /* places that were used */
	size_t n, n_leases;
	bool wanted;	  /* a report or a history is configured */
	bool ends_wanted; /* a history is */
	bool on;	  /* the root is stopped */
	uint64_t stop_usec, realtime_usec;
	char cause[TRACE_CAUSE_MAX];
	struct trace_guard *places;
	size_t n_places, n_used, n_free;
	uint64_t lost;
};

void traces_init(struct traces *traces);
void traces_done(struct traces *traces);

/*
 * Turns traces on or off, and the list of ends.  If they are on, memory is reserved; guards without a
 * place are counted.
 */
void traces_want(struct traces *traces, bool wanted, bool ends);

/* Reserves places for @more leases; @more may be negative. */
void traces_expect(struct traces *traces, int more);

/* Begins the data of a shutdown: the root is stopped. */
void traces_begin(struct traces *traces, const char *cause, uint64_t now);

/* Makes the trace of @node; *ret is NULL if no report is wanted.  Return: 0 or -ENOMEM. */
int trace_new(struct trace **ret, struct traces *traces, struct node *node, const char *path);

/* Detaches the trace from its node, which is freed, or frees it if the root runs.  Returns NULL. */
struct trace *trace_free(struct trace *trace);

/*
 * Records the stop of the node, or that a run begins to end by itself; @state is that of its service,
 * or NULL.
 */
void trace_begin(struct trace *trace, unsigned generation, const char *state, uint64_t now);

/* Returns true between trace_begin() and trace_complete(). */
static inline bool trace_is_ending(const struct trace *trace)
{
	return trace && trace->stop_usec && !trace->complete_usec;
}

void trace_explain(struct trace *trace, const char *why);

/* Records that the node is Complete, or that the run is over; it is on the list of ends then. */
void trace_complete(struct trace *trace, bool forced, uint64_t late_usec, uint64_t budget_usec,
		    uint64_t now);

void trace_state(struct trace *trace, const char *state, uint64_t now);

/* Marks the trace: its guards may have changed and are looked at in this turn. */
void trace_touch(struct trace *trace);

/* Ends the use of a trace that was taken off the list of ends, and frees it if its node is gone. */
void trace_end(struct trace *trace);

/* Begins a look at the node; trace_scan_guard() follows for each guard, and trace_end_scan() ends it. */
void trace_begin_scan(struct trace *trace);
void trace_scan_guard(struct trace *trace, const struct guard_view *guard, uint64_t now);
void trace_end_scan(struct trace *trace, uint64_t now);

/* Records how a guard ends or is about to end; @end is constant. */
void trace_guard_end(struct trace *trace, uint64_t id, const char *end);
