#pragma once

/*
 * A program that is attached to the node of its service (swansong/base/page.h).
 *
 * Each run has a page and a pair of sockets of its own.  The guards that the program reports there
 * are shown and, within the limits of the configuration, waited for; they have no other effect.
 * Its messages are limited in rate, so that a program that floods the socket harms no other
 * service.
 */

#include "daemon/streams/handover.h"
#include "daemon/guard/lease.h"

struct attach;

/* Time to wait for the reports that attach_ask() has requested. */
#define ATTACH_ANSWER_USEC (250 * USEC_PER_MSEC)

/* Number of descriptors for struct launch_program. */
#define ATTACH_HANDOVER 2

/*
 * Makes the object of a service.  It calls node_guards_changed() when a stopped program is Complete
 * or gone.  Return: 0 or -ENOMEM.
 */
int attach_new(struct attach **ret, struct node *node);
struct attach *attach_free(struct attach *attach);

/*
 * Begins a run.  @handover is for the program; the caller closes *socket unless it is -1.  Return:
 * 0 or -errno.
 */
int attach_begin(struct attach *attach, struct handover handover[static ATTACH_HANDOVER],
		 int *socket);

/* Enters the run in the roster, with the present path of its node. */
void attach_enter_rows(struct attach *attach);

/* Takes over the run of before a fault.  Returns true if there was one. */
bool attach_take_former(struct attach *attach);
void attach_end(struct attach *attach);

/* Notifies the program of the stop, once, before any signal. */
void attach_stop(struct attach *attach);

/* Returns the number of guards that the program reports; 0 after the stop once it is Complete. */
uint64_t attach_guards(struct attach *attach);

/* Updates the counts of guards in the subtree of @top and in the nodes above. */
void attach_count(struct node *top);

/* Requests a report from the programs in the subtree of @top, at most every 250 ms. */
void attach_ask(struct node *top, uint64_t now);

/* Returns true if a requested report has not come but still may come in time. */
bool attach_is_awaited(struct node *top, uint64_t now);

/* The guards of an attached program, as they are shown. */
struct attach_view {
	uint64_t id;
	pid_t pid;
	const char *command; /* or NULL */
	uint64_t guards;
	const char *why; /* of its last report, or NULL */
	uint64_t age_usec;
};

/* Fills in *ret and requests a report for the next call.  Returns false if there are no guards. */
bool attach_view(struct attach *attach, uint64_t now, struct attach_view *ret);
