#pragma once

/*
 * The report of a shutdown, as swansong-report(5) has it: one JSON object, written by the daemon and
 * read by swansongctl.  All times are in microseconds since the stop of the root; a time before that
 * is negative.
 *
 * Strings are borrowed: from the code that fills in the struct, or from the JSON they were read from.
 * A missing optional number is FIELD_NONE, a missing string NULL.
 */

#include "proto/field.h"

#define REPORT_FORMAT 1

struct report_view {
	uint64_t format;
	const char *version; /* of the daemon */
	const char *host;
	uint64_t pid;	      /* of the daemon */
	uint64_t time_usec;   /* of the stop, since the epoch */
	const char *cause;    /* who or what asked for it */
	const char *signal;   /* optional: that it was */
	bool forced;	      /* something was killed or revoked */
	uint64_t status;      /* of the daemon's exit */
	uint64_t total_usec;  /* until the root was Complete */
	uint64_t budget_usec; /* optional: shutdown-timeout */
	uint64_t lost;	      /* guards that there was no memory for, and states too many */
};

struct report_node {
	const char *path;
	bool is_service;
	uint64_t generation;
	int64_t stop_usec;	/* before 0: it was stopped alone */
	uint64_t complete_usec; /* optional: never */
	bool forced;
	uint64_t late_usec;   /* optional: when it, and nothing below it, was first forced */
	uint64_t budget_usec; /* optional */
	json_t *after;	      /* array of paths: whose completion its signal waited for; or NULL */
};

/* What the service of a node was in, until the next one, or until its node was Complete. */
struct report_state {
	const char *state; /* as fsm_state_name() */
	int64_t at_usec;
};

struct report_guard {
	uint64_t id;
	const char *kind; /* as in struct guard_view */
	uint64_t pid, uid;
	const char *command, *why; /* optional, as those before */
	uint64_t count;		   /* optional: the most that there were */
	int64_t taken_usec;
	uint64_t gone_usec; /* optional: it was held when the report was written */
	/* optional: "dropped", "ended", "killed", "revoked", "expired", "abandoned" */
	const char *end;
};

/* New objects, without the arrays in them; NULL without memory. */
json_t *report_view_build(const struct report_view *report);
json_t *report_node_build(const struct report_node *node);
json_t *report_state_build(const struct report_state *state);
json_t *report_guard_build(const struct report_guard *guard);

/* A node as it was read, with the arrays that belong to it. */
struct report_lane {
	struct report_node node;
	struct report_state *states;
	struct report_guard *guards;
	size_t n_states, n_guards;
};

struct report {
	struct report_view view;
	struct report_lane *lanes; /* parents before their children */
	size_t n;
};

/*
 * Borrows @root.  Members that are not known are ignored, so that later versions may have more.
 *
 * Return: 0; -EBADMSG if it is no such report; -EPROTONOSUPPORT for another format; -ENOMEM.
 */
int report_parse(const json_t *root, struct report *ret);
void report_done(struct report *report);
