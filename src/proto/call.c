/*
 * proto/client.h with an expired deadline never waits: a call is shorter than the buffer of a socket,
 * and replies are taken when they have arrived.  A reply that is not there in time is a fault like a
 * lost connection.
 */
#include "proto/call.h"

#define CONNECT_USEC (10 * USEC_PER_MSEC) /* a full backlog of the daemon may cost this much */

struct call {
	struct client *client;
	sd_event_source *io, *limit;
	struct call_owner owner;
};

static void call_fail(struct call *call, int r)
{
	call->io = sd_event_source_disable_unref(call->io);
	call->limit = sd_event_source_disable_unref(call->limit);
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
		call_grant_time(call);
	goes_on = call->owner.replied(&reply, 0, call->owner.arg);
	message_reply_done(&reply);
	return goes_on;
}

void call_drain(struct call *call)
{
	while (call_receive(call))
		;
}

static int call_on_reply(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	call_drain(arg);
	return 0;
}

static int call_on_limit(sd_event_source *source, uint64_t usec, void *arg)
{
	call_fail(arg, -ETIMEDOUT);
	return 0;
}

int call_ask(struct call *call, enum interface_method method, json_t *parameters, unsigned flags,
	     uint64_t timeout_usec)
{
	(void)sd_event_source_set_time_relative(call->limit, timeout_usec);
	(void)sd_event_source_set_enabled(call->limit, SD_EVENT_ONESHOT);
	return client_call(call->client, interface_method_name(method), parameters, flags, 0);
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
		r = sd_event_add_time(event, &call->limit, CLOCK_MONOTONIC, USEC_INFINITY, 0,
				      call_on_limit, call);
	if (r >= 0)
		r = call_ask(call, method, json_incref(parameters), flags, timeout_usec);
	json_decref(parameters);
	if (r < 0)
		call_free(call);
	else
		*ret = call;
	return MIN(r, 0);
}

void call_grant_time(struct call *call)
{
	(void)sd_event_source_set_enabled(call->limit, SD_EVENT_OFF);
}

struct client *call_client(const struct call *call)
{
	return call->client;
}

struct call *call_free(struct call *call)
{
	if (!call)
		return NULL;
	call->io = sd_event_source_disable_unref(call->io);
	call->limit = sd_event_source_disable_unref(call->limit);
	client_free(call->client);
	return free_memory(call);
}
