/*
 * proto/client.h with an expired deadline never waits, see mirror/link.c.  A reply that is not there
 * in time is a fault like a lost connection.
 */
#include "exporter/mirror/call.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"

#define CONNECT_USEC (10 * USEC_PER_MSEC) /* a full backlog of the daemon may cost this much */

struct call {
	struct client *client;
	sd_event_source *io, *limit;
	struct call_owner owner;
};

static void call_stop(struct call *call)
{
	call->io = sd_event_source_disable_unref(call->io);
	call->limit = sd_event_source_disable_unref(call->limit);
}

static void call_fail(struct call *call, int r)
{
	call_stop(call);
	(void)call->owner.replied(NULL, r, call->owner.arg);
}

/* Return: false if no reply has arrived, or if the call is over. */
static bool call_receive(struct call *call)
{
	struct message_reply reply;
	int r = client_receive(call->client, 0, &reply);
	bool goes_on;

	if (r < 0) {
		if (r != -ETIMEDOUT)
			call_fail(call, r);
		return false;
	}
	if (!reply.continues)
		call_stop(call);
	goes_on = call->owner.replied(&reply, 0, call->owner.arg) && reply.continues;
	message_reply_done(&reply);
	return goes_on;
}

static int call_on_reply(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	while (call_receive(arg))
		;
	return 0;
}

static int call_on_limit(sd_event_source *source, uint64_t usec, void *arg)
{
	call_fail(arg, -ETIMEDOUT);
	return 0;
}

int call_new(struct call **ret, sd_event *event, const char *socket, enum interface_method method,
	     json_t *parameters, unsigned flags, uint64_t timeout_usec,
	     const struct call_owner *owner)
{
	struct call *call = calloc(1, sizeof(*call));
	int r = call ? 0 : -ENOMEM;

	if (r == 0) {
		call->owner = *owner;
		r = client_connect(&call->client, socket, clock_now_usec() + CONNECT_USEC);
	}
	if (r == 0)
		r = sd_event_add_io(event, &call->io, client_get_fd(call->client), EPOLLIN,
				    call_on_reply, call);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &call->limit, CLOCK_MONOTONIC, timeout_usec,
					       0, call_on_limit, call);
	if (r >= 0)
		r = client_call(call->client, interface_method_name(method),
				json_incref(parameters), flags, 0);
	json_decref(parameters);
	if (r < 0)
		call_free(call);
	else
		*ret = call;
	return MIN(r, 0);
}

void call_grant_time(struct call *call)
{
	call->limit = sd_event_source_disable_unref(call->limit);
}

int call_take_descriptor(struct call *call)
{
	return client_take_descriptor(call->client);
}

struct call *call_free(struct call *call)
{
	if (!call)
		return NULL;
	call_stop(call);
	client_free(call->client);
	free(call);
	return NULL;
}
