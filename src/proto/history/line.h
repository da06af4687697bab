#pragma once

/*
 * A line of the history, swansong-report(5): the end of a node with a service, or of the root, as a
 * JSON object.  It is written by the daemon, and read by swansongctl and swansong-exporter.
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

struct history_line {
	uint64_t time_usec; /* of the end, since the epoch */
	const char *node;   /* its path; "" is the root */
	uint64_t generation;
	const char *why;     /* the request that stopped it, or how it has ended by itself */
	uint64_t total_usec; /* from the stop until it was Complete */
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
