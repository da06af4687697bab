#pragma once

/*
 * Requests that start, stop or restart a node, or begin or change a shutdown, POST /api/action: the one thing that
 * the exporter asks of the daemon for a client.  A request needs the token before any byte of its body is kept.  It is
 * suspended while the daemon is asked, which takes up to ACTION_USEC.
 */

#include <microhttpd.h>
#include <systemd/sd-event.h>

#include "exporter/http/token.h"
#include "proto/interface.h"

#define ACTION_PATH	"/api/action"
#define ACTION_BODY_MAX 4096 /* bytes */
#define ACTIONS_MAX	16   /* requests that wait for the daemon */
#define ACTION_USEC	UINT64_C(10000000)

struct actions_owner {
	sd_event *event;
	struct log *log;
	const char *socket;  /* of the daemon */
	struct token *token; /* NULL: actions are not allowed */
	/* Called when connections have been resumed: the server has to run. */
	void (*resumed)(void *arg);
	void *arg;
};

struct actions {
	struct actions_owner owner;
	struct list list; /* of those that wait */
	size_t n;
	bool closed;
};

struct action;

void actions_init(struct actions *actions, const struct actions_owner *owner);

/* Ends the requests that wait, with 503. */
void actions_close(struct actions *actions);

/*
 * Begins a request when its headers have come.  Returns NULL with *ret set; or the response to refuse it with
 * its status, or NULL without memory.
 */
struct MHD_Response *action_new(struct action **ret, struct actions *actions,
				struct MHD_Connection *connection, unsigned *ret_status);

void action_take(struct action *action, const char *data, size_t size);

/*
 * Called when the body is complete, and when the connection has been resumed.  Returns the response with its
 * status; or NULL with status 0: the connection is suspended.
 */
struct MHD_Response *action_respond(struct action *action, unsigned *ret_status);

struct action *action_free(struct action *action);

/*
 * Reads a body, {"action": "restart", "node": "web/app"}.
 *
 * Return: the parameters for *ret_method, a new object with "node" and with "wait" false; or NULL,
 * and *ret_fault is the reason.
 */
json_t *action_parse(const char *text, size_t size, enum interface_method *ret_method,
		     const char **ret_fault);
