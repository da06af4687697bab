#pragma once

/*
 * A copy of the tree of nodes, as the daemon showed it last.  The nodes are replaced as a whole by a
 * reply to Status, the guards by a reply to Guards.  All of it stays when the daemon ends, so that
 * the end of a shutdown can still be read.
 */

#include "base/dict.h"
#include "exporter/mirror/shown.h"
#include "proto/node-view.h"

struct copy_node {
	json_t *object;	       /* as received */
	struct node_view view; /* the object as a view: with the strings of the object, and times as of @at_usec */
	bool changed;	       /* changed by the last reply, in more than its times */
};

struct copy {
	struct copy_node *nodes; /* parents before their children */
	size_t n;
	struct dict by_path;
	uint64_t at_usec; /* when the nodes were shown, on CLOCK_MONOTONIC */

	json_t *guards_reply; /* the strings of @guards are its own */
	struct guard_view *guards;
	size_t n_guards;
	uint64_t guards_at_usec;

	json_t *events;	      /* an array of Event, the last COPY_EVENTS of one daemon */
	uint64_t next_event;  /* the number after that of the last event */
	uint64_t asked_usec;  /* when the nodes were asked for, on CLOCK_REALTIME as the events: these
				 may be newer than the states in the reply */
	json_t *rollout;      /* of the last reply to Status; NULL: there is none */
	json_t *plan;	      /* the last reply to Plan, for the root; NULL: none yet */
	json_t *dependencies; /* the array of the last reply to Dependencies; NULL: none yet */
	json_t *settings;     /* the last reply to Show, for the root; NULL: none yet */
	struct shown shown;   /* the settings of nodes that were asked for */
};
#define COPY_EVENTS 512

void copy_init(struct copy *copy);
void copy_done(struct copy *copy);

/*
 * Replaces the nodes by the array @nodes of Node, and takes the events since @asked_usec again.
 *
 * Return: 1: other nodes than before, or in another order; 0: the same nodes; -EBADMSG or -ENOMEM:
 * the copy is as before.
 */
int copy_take_nodes(struct copy *copy, const json_t *nodes, uint64_t now_usec);

/*
 * Replaces the guards by those of @reply, which has the array "guards".
 *
 * Return: 1: the guards have changed in more than their times; 0; -EBADMSG or -ENOMEM: the copy is
 * as before.
 */
int copy_take_guards(struct copy *copy, json_t *reply, uint64_t now_usec);

/*
 * Adds those of @events, an array of Event, that are not known yet, and changes the states of their
 * nodes in the copy.  After a lost connection, known ones come again.
 *
 * Returns a new array of those that were added; NULL without memory.
 */
json_t *copy_take_events(struct copy *copy, const json_t *events);

const struct copy_node *copy_find(const struct copy *copy, const char *path);

/* Returns the view with its distances as of @now_usec. */
struct node_view copy_node_at(const struct copy *copy, const struct copy_node *node,
			      uint64_t now_usec);
struct guard_view copy_guard_at(const struct copy *copy, const struct guard_view *guard,
				uint64_t now_usec);

/* Returns true if the guard holds up a stop: its node is stopped, or the guard is of an old run. */
bool copy_is_blocking(const struct copy *copy, const struct guard_view *guard);

bool copy_is_stopping(const struct copy *copy);
