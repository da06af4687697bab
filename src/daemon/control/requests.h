#pragma once

/*
 * The requests of a connection: calls of the methods of io.swansong.  Most methods wait; a waiting
 * call is looked at in every update turn.
 */

#include "daemon/control/connection.h"
#include "daemon/reload/reload.h"
#include "daemon/reload/rollout.h"

#define REQUEST_LEASES_MAX 256 /* on one connection */

struct request {
	struct tree *tree;
	struct connection *connection;
	const struct reload *reload;

	/* The waiting call. */
	bool waiting;
	enum interface_method method;
	bool more;
	bool blocking;				/* METHOD_GUARDS */
	char path[CONFIG_NAME_MAX + 1];		/* of its node */
	char until[16];				/* METHOD_WAIT */
	struct swansong_completion *completion; /* of the generation that it concerns */
	unsigned generation;
	bool hands_over; /* the node did so when the wait began */
	uint64_t begun_usec;
	uint64_t settle_usec;  /* ready = started: time to watch the service */
	uint64_t stopped_usec; /* start of the stops that it has requested; 0: none */
	json_t *passing;       /* nodes that are freed when Complete and not waited for yet */
	json_t *with;	       /* METHOD_STOP, _RESTART: paths of the dependents stopped with it;
				* METHOD_LOGS: of the nodes;
				* METHOD_ROLLOUT: the changes that are still to be sent;
				* METHOD_INHIBIT: what was sent */
	struct log_subscription *logs; /* METHOD_LOGS */
	bool begin_sent;	       /* ... and its first reply is sent */
	uint64_t next_usec;	       /* no progress is sent before this */
	unsigned change;    /* METHOD_ENABLE, _DISABLE, _SCALE: its number; 0: it has not begun */
	uint64_t instances; /* METHOD_SCALE; FIELD_NONE: as in the files */
	unsigned trial;	    /* METHOD_RELOAD, _ROLLOUT, _SCALE: its number; 0: none is waited for */
	uint64_t look;	    /* METHOD_STATUS, _ROLLOUT: see programs_look(); 0: none */
	bool dry_run;	    /* METHOD_RELOAD, _UPGRADE */
	json_t *parameters; /* METHOD_RELOAD, _ROLLOUT: of the call; NULL: it only waits */
	int tape; /* METHOD_RUN, until the node is made: its parameters and users; 0: none */
	struct closer asker; /* ... looks for the users */
	bool asked;	     /* ... and has ended */
	unsigned seen;	    /* ... version that was sent */
	char cause[EVENT_CAUSE_MAX]; /* of the request */
	uint64_t next_event;	     /* METHOD_EVENTS: number of the next event to send */
	bool changes;		     /* ... also changes without an event */
	uint64_t seen_changes;	     /* ... up to this number they were reported; METHOD_INHIBIT: looked at */
	bool asleep;		     /* METHOD_INHIBIT: the host is going to sleep */
	struct alarm progress;

	struct list leases; /* leases of this connection */
	unsigned n_leases;
	struct lease *followed; /* the guard of a waiting METHOD_TAKE_GUARD */
	bool stop_sent;		/* its client has been notified of the stop */
	unsigned refused;	/* number of refused oneway calls */
};

void request_init(struct request *request, struct tree *tree, struct connection *connection);

/* Ends the request with its connection: its guards are released, effects of its calls remain. */
void request_done(struct request *request);

void request_call(struct request *request, enum interface_method method,
		  const struct message_call *call);
void request_update(struct request *request);

/*
 * Takes over the guards that the connection had as @fd in the former image.  Returns true if it has a call
 * that goes on: it waits for the end of a guard, or for the upgrade.
 */
bool request_take_former(struct request *request, int fd);

/* Makes the transient nodes of the former image again. */
void requests_take_former_runs(struct tree *tree);
