#pragma once

/*
 * Connections as calls for a service: the watch of its sockets, and the time in which no connection
 * came.  Both put the node on the agenda of TASK_DEMANDS, where daemon/demand decides.
 */

#include "daemon/node/node.h"
#include "daemon/streams/activation.h"
#include "sys/ipc/connections.h"

struct calls {
	struct node *node;
	struct alarm alarm; /* end of a period in which the service may be idle */
	bool called;	    /* a connection came since calls_await() */
	bool expired;	    /* the period is over */
	bool resting;	    /* the service has no process, and its sockets are watched */
	bool unknown;	    /* connections could not be counted; that was logged */
	bool draining;	    /* the watch is for drain-quiet */
	uint64_t last_usec; /* in a drain: when it began, or when a connection was last noticed */
	struct arrivals arrivals; /* during a period, or the drain */
};

/* Return: 0 or -ENOMEM. */
int calls_new(struct calls **ret, struct node *node);
struct calls *calls_free(struct calls *calls);

/* Begins to watch the sockets of @activation for one call.  Return: 0 or -errno. */
int calls_await(struct calls *calls, struct activation *activation);

/* Begins a period that ends after @usec; ends it early, and the watch of arrivals. */
void calls_begin_period(struct calls *calls, uint64_t usec);
void calls_end_period(struct calls *calls);
void calls_end_drain(struct calls *calls);
