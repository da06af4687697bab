#pragma once

/*
 * A program that is attached to the node of its service (base/page.h).
 *
 * Each run has a page and a pair of sockets of its own.  Whatever the program writes there is shown
 * and, within what the configuration allows, waited for; nothing else follows from it.  How often
 * it is listened to is limited, so that one that talks without end harms nobody.
 */

#include "base/clock.h"
#include "daemon/streams/handover.h"
#include "daemon/node/node.h"

struct attach;

/* For an answer to attach_ask(). */
#define ATTACH_ANSWER_USEC (250 * USEC_PER_MSEC)

/* For struct launch_program. */
#define ATTACH_HANDOVER 2

/* Calls node_guards_changed() when a stopped program is Complete or gone.  Return: 0 or -ENOMEM. */
int attach_new(struct attach **ret, struct node *node);
struct attach *attach_free(struct attach *attach);

/* Begins a run: @handover is for the program.  The caller closes *socket, unless it is -1. */
int attach_begin(struct attach *attach, struct handover handover[static ATTACH_HANDOVER],
		 int *socket);

/* The run is over, if there was one. */
void attach_end(struct attach *attach);

/* Tells the program of the stop, once, before any signal. */
void attach_stop(struct attach *attach);

/* The guards that the program reports; 0 after the stop once it has reported Complete. */
uint64_t attach_guards(struct attach *attach);

/* Counts them anew for the nodes at and below @top, and those above. */
void attach_count(struct node *top);

/* Asks programs at and below @top for the places of their guards, at most every 250 ms. */
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
