#pragma once

/*
 * A program that is attached to the node of its service (base/page.h).
 *
 * Each run has a page and a pair of sockets of its own.  Whatever the program writes there is shown
 * and, within what the configuration allows, waited for; nothing else follows from it.  How often
 * it is listened to is limited, so that one that talks without end harms nobody.
 */

#include "base/clock.h"
#include "daemon/handover.h"
#include "daemon/node.h"

struct attach;

/* For an answer to attach_ask(). */
#define ATTACH_ANSWER_USEC (250 * USEC_PER_MSEC)

/* For struct launch_program. */
#define ATTACH_HANDOVER 2

/*
 * When a stopped program has said that nothing is left, or can say it no more,
 * node_guards_changed() is called for @node.  Return: 0 or -ENOMEM.
 */
int attach_new(struct attach **ret, struct node *node);
struct attach *attach_free(struct attach *attach);

/*
 * A run begins.  The program is given the descriptors in @handover; *socket is one of them, and to
 * be closed after that, also after a failure unless it is -1.  Return: 0 or -errno.
 */
int attach_begin(struct attach *attach, struct handover handover[static ATTACH_HANDOVER],
		 int *socket);

/* The run is over, if there was one. */
void attach_end(struct attach *attach);

/*
 * The run is to end: the program sees that now, before any signal.  Harmless when it is said again.
 */
void attach_stop(struct attach *attach);

/*
 * The guards that the program says to hold; 0 if none is attached, or if it has said after the stop
 * that the last one is gone.
 */
uint64_t attach_guards(struct attach *attach);

/* Counts them anew for the nodes at and below @top, and those above. */
void attach_count(struct node *top);

/*
 * Asks the programs at and below @top that hold guards where they have taken them, if they were not
 * asked just now.  Whoever wants to see that waits while attach_is_awaited(); each answer is
 * followed by a turn.
 */
void attach_ask(struct node *top, uint64_t now);

/* Is there one that was asked, and has not answered, and had no time to? */
bool attach_is_awaited(struct node *top, uint64_t now);

/* What there is to see of an attached program that holds guards. */
struct attach_view {
	uint64_t id;
	pid_t pid;
	const char *command; /* or NULL */
	uint64_t guards;
	const char *why; /* what it reported last, or NULL */
	uint64_t age_usec;
};

/* Asks the program for a report as well, for the next time.  Return: false if there is nothing. */
bool attach_view(struct attach *attach, uint64_t now, struct attach_view *ret);
