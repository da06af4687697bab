#pragma once

/*
 * A client of the control socket: the connection reads calls and sends replies.
 *
 * A connection has one call at a time.  While the call waits, or a reply has not been read, no
 * input is read: so a client makes the daemon keep one request and one reply at most.
 */

#include "daemon/loop/closer.h"
#include "proto/frame.h"
#include "proto/interface.h"
#include "sys/ipc/unixsock.h"

#define CONNECTION_OUTPUT_MAX (64 * 1024 * 1024) /* of a reply: a tree may be large */
#define CONNECTION_IDLE_USEC  UINT64_C(10000000) /* until the first call, or to read a reply */

struct connection;

/* The rights of a client; each tier includes those before it. */
enum connection_tier {
	TIER_LOOK,
	TIER_OPERATE, /* start, stop, reload, hold guards */
	TIER_RUN,     /* run programs of its own */
};

struct connection_owner {
	/*
	 * Called for each complete and valid call; connection_reply() or connection_fail() ends it,
	 * once.
	 */
	void (*call)(struct connection *connection, enum interface_method method,
		     const struct message_call *call, void *arg);
	/* Called at the end, when the descriptor is closed; frees the connection. */
	void (*closed)(struct connection *connection, void *arg);
	void *arg;
};

struct connection {
	struct list in_control;
	struct context *ctx;
	const struct connection_owner *owner;
	int fd;
	sd_event_source *io;
	struct alarm idle;
	uint64_t since_usec;  /* its start, or the end of its last call */
	struct closer closer; /* of its unread input */
	struct frame_reader reader;
	struct frame_writer writer;
	struct ucred peer;	      /* the process that connected */
	enum connection_tier tier;    /* lowest of all processes that have written to it */
	enum interface_method method; /* of its last call */
	bool busy;		      /* with a call */
	bool taking;		      /* a fault here: it is not known whether a call was read */
	bool replying;		      /* a fault here: it is not known whether the client has the reply */
	bool oneway;		      /* wants no reply */
	bool spoken;		      /* has made a call */
	bool patient;		      /* may take its time to read */
	bool dead;		      /* will be closed in the next turn */
	bool inherited;		      /* given to a service at its start */
	/* Path of that service: the connection is limited to its subtree; or "". */
	char home[CONFIG_NAME_MAX + 1];
	unsigned place;	     /* of its row in the roster */
	uint64_t entered[3]; /* the details of that */
	void *request;	     /* of the owner */
};

/*
 * Makes a connection of @fd, accepted from a unix_listen() socket; takes ownership of @fd, also on
 * failure.  The owner sets the tier.  Return: 0 or -errno.
 */
int connection_new(struct connection **ret, struct context *ctx, int fd,
		   const struct connection_owner *owner);

/* The connection goes on after a fault, as it is now. */
void connection_enter(struct connection *connection);

/*
 * Marks the connection as one end of unix_pair() with the other end given to the service at @home.  Each
 * process that has that end acts for the service and may take its time.
 */
void connection_inherit(struct connection *connection, const char *home);

/*
 * Makes the connection of the former image that @row describes, as connection_new() does: busy, taking or
 * replying as before.  The owner decides on it, and enters it.
 */
int connection_take_former(struct connection **ret, struct context *ctx, struct roster_row *row,
			   const struct connection_owner *owner);
struct connection *connection_free(struct connection *connection);

/* Sends a reply; takes the reference to @parameters.  @continues: further replies follow. */
void connection_reply(struct connection *connection, json_t *parameters, bool continues);

/* Sends an error, with additional members @more or NULL, see interface_build_error(). */
void connection_fail(struct connection *connection, enum interface_error error, const char *node,
		     const char *reason, json_t *more);

/* Handles calls that have waited for the present one.  It is called once in a turn. */
void connection_resume(struct connection *connection);

/* Sends what the client has not read yet, as much as its socket takes. */
void connection_send(struct connection *connection);

/* Returns true if the client has not read a reply yet. */
bool connection_is_clogged(const struct connection *connection);

/* Closes the connection in the next turn, without a reply. */
void connection_close_soon(struct connection *connection);
