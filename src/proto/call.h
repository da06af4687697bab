#pragma once

/* A call to the daemon, on a connection of its own, which never waits; and further calls on it. */

#include <systemd/sd-event.h>

#include "proto/client.h"
#include "proto/interface.h"

struct call;

struct call_owner {
	/*
	 * Takes a reply; or NULL and a fault: -ETIMEDOUT, or -errno of the connection.  Returns true
	 * to take further replies; else the call is over, and may have been freed.
	 */
	bool (*replied)(const struct message_reply *reply, int r, void *arg);
	void *arg;
};

/*
 * Calls @method of the daemon at @socket; takes the reference to @parameters, @flags are MESSAGE_*.
 * All replies are awaited for @timeout_usec.
 *
 * Return: 0 or -errno: nothing is taken.
 */
int call_new(struct call **ret, sd_event *event, const char *socket, enum interface_method method,
	     json_t *parameters, unsigned flags, uint64_t timeout_usec,
	     const struct call_owner *owner);

/* Calls another method, when all replies to the last one have come.  Return: likewise. */
int call_ask(struct call *call, enum interface_method method, json_t *parameters, unsigned flags,
	     uint64_t timeout_usec);

/* Takes the replies that have arrived. */
void call_drain(struct call *call);

/* Removes the time limit of @call. */
void call_grant_time(struct call *call);

/* Returns the connection, for its descriptors. */
struct client *call_client(const struct call *call);

struct call *call_free(struct call *call);
