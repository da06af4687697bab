#pragma once

/*
 * The notify protocol, upward: what whoever supervises us is told (sd_notify(3)).
 *
 * READY=1 once every service has had its first outcome; STATUS= on every change, at most four a
 * second; STOPPING=1 and X_SWANSONG_STATE=ShuttingDown at the stop of the root, never for less;
 * EXTEND_TIMEOUT_USEC= every 5 s while starting, and while stopping as long as that gets on inside
 * the budget; WATCHDOG=1 at the end of a turn of the loop.  Sending never
 * blocks: what a full socket does not take goes out later; that nobody is there, or that the
 * address is none, is no reason not to run.
 */

#include "daemon/tree/tree.h"

struct parent;

/* What we were given: taken from the environment before that goes to the services. */
struct parent_address {
	char *socket;		/* $NOTIFY_SOCKET, or NULL: nobody is to be told */
	uint64_t watchdog_usec; /* USEC_INFINITY: no watchdog */
};

/* Reads and unsets NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID.  Return: 0 or -ENOMEM. */
int parent_address_take(struct parent_address *ret);

/* @address->socket becomes the parent's. */
int parent_new(struct parent **ret, struct tree *tree, struct parent_address *address);
struct parent *parent_free(struct parent *parent);

/* Something may have changed. */
void parent_settle(struct parent *parent);

/* A reload begins, and ends with what came of it.  Only when the tree was ready. */
void parent_reloading(struct parent *parent);
void parent_reloaded(struct parent *parent, const char *status);
