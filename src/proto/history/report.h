#pragma once

/*
 * The report of a shutdown, by swansong-report(5): a JSON object, written by the daemon and read by
 * swansongctl.  All times are in microseconds since the stop of the root; a time before that is
 * negative.
 *
 * Strings are borrowed: from the code that fills in the struct, or from the JSON that was read.
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
	const char *cause;    /* the user, signal or event that requested the shutdown */
	const char *signal;   /* optional: the signal that requested it */
	bool forced;	      /* a process was killed, or a guard revoked */
	uint64_t status;      /* of the daemon's exit */
	uint64_t total_usec;  /* until the root was Complete */
	uint64_t budget_usec; /* optional: shutdown-timeout */
	uint64_t lost;	      /* guards and states that are missing in the report */
};

struct report_node {
	const char *path;
	bool is_service;
	uint64_t generation;
	int64_t stop_usec;	/* negative: the node was stopped before the root */
	uint64_t complete_usec; /* optional: never */
	bool forced;
	bool early;	      /* it was killed early, for services of a higher stop-priority */
	uint64_t late_usec;   /* optional: the first forced kill of the node itself */
	uint64_t budget_usec; /* optional */
	json_t *after;	      /* array of paths: the nodes that its signal waited for; or NULL */
};

/* A state of the service, until the next state, or until the node was Complete. */
struct report_state {
	const char *state; /* as fsm_state_name() */
	int64_t at_usec;
};

struct report_guard {
	uint64_t id;
	const char *kind; /* as in struct guard_view */
	uint64_t pid, uid;
	const char *command, *why; /* optional, as those before */
	uint64_t count;		   /* optional: the maximum */
	int64_t taken_usec;
	uint64_t gone_usec; /* missing: the guard was held when the report was written */
	/* optional: "dropped", "ended", "killed", "revoked", "expired", "abandoned" */
	const char *end;
};

/* Create objects, without the arrays in them.  Return: NULL if out of memory. */
json_t *report_view_build(const struct report_view *report);
json_t *report_node_build(const struct report_node *node);
json_t *report_state_build(const struct report_state *state);
json_t *report_guard_build(const struct report_guard *guard);

/* A node that was read, with its arrays. */
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
 * Reads the file at @path.  *ret borrows from *root, which is a new reference.  Unknown members are ignored, so
 * that later versions may add some.
 *
 * Return: 0; -EBADMSG: not a report; -EPROTONOSUPPORT: another format; -ENOMEM; -ENOTSUP: not a regular file;
 * -EFBIG: more than @size_max bytes; -errno.
 */
int report_load(const char *path, uint64_t size_max, json_t **root, struct report *ret);
void report_done(struct report *report);

/* The parts of the end of a service. */
enum report_part {
	REPORT_RUNNING,	 /* up still, or another state before the stop */
	REPORT_DRAINING, /* stopped, and not signalled yet */
	REPORT_WAITING,	 /* waiting for the completion of others */
	REPORT_STOPPING, /* asked, or signalled */
	REPORT_KILLING,
	REPORT_CLOSING, /* its post-stop runs */
	REPORT_OVER,
	N_REPORT_PARTS
};
enum report_part report_part(const char *state);
