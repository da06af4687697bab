#pragma once

/*
 * One client of the control socket: bytes in, calls out; answers in, bytes out.
 *
 * A connection has one call at a time.  While that waits for something, or while an answer has not
 * been read, nothing further is read: a client can make us keep one request and one answer.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "daemon/loop/closer.h"
#include "proto/frame.h"
#include "proto/interface.h"
#include "sys/ipc/unixsock.h"

#define CONNECTION_OUTPUT_MAX (64 * 1024 * 1024) /* of an answer: a tree may be large */
#define CONNECTION_IDLE_USEC  UINT64_C(10000000) /* to send the first call, or to read an answer */

struct connection;

/* What a client may do; each tier includes those before it. */
enum connection_tier {
	TIER_LOOK,
	TIER_OPERATE, /* start, stop, reload, hold guards */
	TIER_RUN,     /* run programs that no file names */
};

struct connection_owner {
	/*
	 * A whole call, of the right form.  connection_reply() or connection_fail() ends it, once.
	 */
	void (*call)(struct connection *connection, enum interface_method method,
		     const struct message_call *call, void *arg);
	/* It is over, and its descriptor is closed; frees it. */
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
	uint64_t since_usec;  /* its beginning, or the end of its last call */
	struct closer closer; /* of what was not read of it */
	struct frame_reader reader;
	struct frame_writer writer;
	struct unix_peer peer;	   /* the process that connected */
	enum connection_tier tier; /* the lowest of all processes that have written to it */
	bool busy;		   /* with a call */
	bool oneway;		   /* that wants no answer */
	bool spoken;		   /* has made a call */
	bool patient;		   /* it may take its time to read */
	bool dead;		   /* to be closed in the next turn */
	bool inherited;		   /* by a service, from its start on */
	void *request;		   /* the owner's */
};

/*
 * Takes @fd, accepted from a unix_listen() socket, also on failure.  The owner sets the tier.
 */
int connection_new(struct connection **ret, struct context *ctx, int fd,
		   const struct connection_owner *owner);

/*
 * It is one of unix_pair(), whose other end a service is given.  Whoever has that speaks for the
 * service, and takes the time that he likes.
 */
void connection_inherit(struct connection *connection);
struct connection *connection_free(struct connection *connection);

/* Takes the reference to @parameters; with @continues there is more to come. */
void connection_reply(struct connection *connection, json_t *parameters, bool continues);

/* @fd, which is taken, goes with the next reply. */
void connection_pass(struct connection *connection, int fd);

void connection_fail(struct connection *connection, enum interface_error error, const char *node,
		     const char *reason);

/* ... and what interface_build_error() takes @more for. */
void connection_fail_with(struct connection *connection, enum interface_error error,
			  const char *node, const char *reason, json_t *more);

/* Goes on with calls that have come in meanwhile.  Once a turn. */
void connection_resume(struct connection *connection);

/* Is there an answer that the client has not read yet? */
bool connection_is_clogged(const struct connection *connection);

/* Ends it in the next turn, without a word. */
void connection_close_soon(struct connection *connection);
