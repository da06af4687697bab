#pragma once

/*
 * What the methods of io.swansong do.  Most wait for something: such a request is looked at again
 * in every turn in which something has changed.
 */

#include "daemon/control/connection.h"
#include "daemon/guard/lease.h"
#include "daemon/reload/reload.h"
#include "daemon/tree/tree.h"

#define REQUEST_LEASES_MAX 256 /* on one connection */

struct log_view;

struct request {
	struct tree *tree;
	struct connection *connection;
	const struct reload *reload;

	/* The call that waits, if any. */
	bool waiting;
	enum interface_method method;
	bool more;
	bool blocking;				/* METHOD_GUARDS */
	char path[CONFIG_NAME_MAX + 1];		/* of its node */
	char until[16];				/* METHOD_WAIT */
	struct swansong_completion *completion; /* of the generation it is about */
	unsigned generation;
	uint64_t begun_usec;
	uint64_t settle_usec;  /* a service of ready = started is watched for so long */
	uint64_t stopped_usec; /* since when stops that it has asked for have begun; 0: none */
	json_t *passing; /* those that go when they are Complete, and are not waited for yet */
	json_t *with;	 /* METHOD_STOP, _RESTART: paths of the dependents stopped with it;
			      * METHOD_LOGS: of the nodes */
	struct log_view *logs; /* METHOD_LOGS */
	bool told_begin;       /* ... and its first reply is sent */
	uint64_t next_usec;    /* no progress is told before this */
	uint64_t next_event;   /* METHOD_EVENTS: the number of the first that is not told yet */
	struct alarm progress;

	struct list leases; /* of this connection */
	unsigned n_leases;
	struct lease *followed; /* the one that METHOD_TAKE_GUARD goes on for */
	bool told_stop;		/* ... and said that its node is being shut down */
	unsigned refused;	/* of oneway calls */

	/*
	 * Of a connection that a service was given: its path, to which and below which it is
	 * limited.
	 */
	char home[CONFIG_NAME_MAX + 1];
};
