#pragma once

/*
 * A line of the history, swansong-report(5): the end of a node with a service, or of the root; or
 * that a service ceases to be ready, or is ready again.  It is a JSON object, written by the daemon, and
 * read by swansongctl and swansong-exporter.
 *
 * Strings are borrowed: from the code that fills in the struct, or from the JSON that was read.
 */

#include "proto/field.h"

#define HISTORY_HOLDERS 3

/* The parts of an end, in the order in which they come; a part that did not happen takes 0. */
struct history_phases {
	uint64_t delay_usec;	/* the drain-delay */
	uint64_t waiting_usec;	/* for the completion of other nodes */
	uint64_t draining_usec; /* from the stop signal on, while the service was busy */
	uint64_t stopping_usec; /* then, until its processes had ended or were killed */
	uint64_t killing_usec;
	uint64_t closing_usec; /* its post-stop, and guards that outlived the service */
};

/* A guard that held up the end. */
struct history_holder {
	const char *kind; /* as in struct guard_view */
	const char *who;  /* optional: the command of its holder */
	const char *why;  /* optional */
	uint64_t usec;	  /* from the stop until the guard was gone */
};

/* Why a service is not ready. */
enum outage {
	OUTAGE_NONE,	   /* in the line of an end; as the state of a service: it was not ready yet */
	OUTAGE_OVER,	   /* it is ready */
	OUTAGE_PLANNED,	   /* by a request, a reload, a schedule or a shutdown */
	OUTAGE_DEPENDENCY, /* with another service */
	OUTAGE_FAILURE,	   /* by its own end, or a start that failed */
	OUTAGE_UNKNOWN,	   /* an earlier daemon was killed; in a line of the root, for all services */
	OUTAGE_REMOVED,	   /* it has no section any more */
	N_OUTAGES
};
extern const char *const history_outages[]; /* their names, NULL-terminated */

/* Events of a service of kind "alert", which on-event-command is for. */
enum alert_event {
	ALERT_GIVEN_UP,
	ALERT_UNHEALTHY,
	ALERT_RECOVERED, /* from one of these two */
	ALERT_FORCED,	 /* a process was killed in a stop */
	ALERT_SLOW_STOP,
	ALERT_OUTDATED, /* a rollout has changed its settings */
	N_ALERTS
};
extern const char *const alert_names[]; /* NULL-terminated */

struct history_line {
	uint64_t time_usec; /* since the epoch */
	const char *node;   /* its path; "" is the root */
	uint64_t generation;
	unsigned outage; /* enum outage; the members below but @why are those of an end */
	const char *
		why; /* the request that stopped it, or how it has ended by itself; of an outage NULL */
	uint64_t total_usec; /* from the stop until it was Complete; FIELD_NONE of an outage */
	struct history_phases phases;
	bool has_phases; /* a root has none */
	bool forced;	 /* a process was killed, or a guard revoked */
	struct history_holder held_by[HISTORY_HOLDERS];
	size_t n_held_by;
};

/* Creates the object; NULL: out of memory. */
json_t *history_line_build(const struct history_line *line);

/* Reads an object.  Borrows @object.  Return: 0; -EBADMSG: not a line of a history. */
int history_line_parse(const json_t *object, struct history_line *ret);

/*
 * Finds the file that the keys history and report of a daemon name.  *ret is NULL if there is none,
 * and is to be freed by free().  Return: 0 or -ENOMEM.
 */
int history_path(char **ret, const char *history, const char *report);
#define HISTORY_NAME "history.jsonl"
