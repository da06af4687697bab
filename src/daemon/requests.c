#include "daemon/requests.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/requests-private.h"

static int on_progress(sd_event_source *source, uint64_t usec, void *arg)
{
	(void)source;
	(void)usec;
	request_settle(arg);
	return 0;
}

int request_init(struct request *q, struct tree *tree, struct connection *connection)
{
	int r;

	*q = (struct request){ .tree = tree, .connection = connection };
	list_init(&q->leases);
	r = sd_event_add_time(tree->ctx->event, &q->progress, CLOCK_MONOTONIC, USEC_INFINITY, 1,
			      on_progress, q);
	return r < 0 ? r : 0;
}

void request_end_wait(struct request *q)
{
	q->waiting = false;
	q->completion = swansong_completion_unref(q->completion);
	(void)sd_event_source_set_enabled(q->progress, SD_EVENT_OFF);
}

void request_done(struct request *q)
{
	request_end_wait(q);
	request_drop_guards(q);
	json_decref(q->passing);
	q->progress = sd_event_source_disable_unref(q->progress);
}

void request_reply(struct request *q, json_t *parameters)
{
	request_end_wait(q);
	connection_reply(q->connection, parameters, false);
}

void request_succeed(struct request *q)
{
	request_reply(q, json_object());
}

void request_fail(struct request *q, enum interface_error error, const char *node,
		  const char *reason)
{
	request_end_wait(q);
	connection_fail(q->connection, error, node, reason);
}

const char *request_reason(struct request *q, const struct message_call *call,
			   char buf[static REQUEST_REASON_MAX])
{
	const char *why = message_get_string(call->parameters, "reason", "");

	(void)snprintf(buf, REQUEST_REASON_MAX, "asked by pid %d, uid %u%s%s",
		       (int)q->connection->peer.pid, q->connection->peer.uid, *why ? ": " : "",
		       why);
	return buf;
}

bool request_path_is_within(const char *path, const char *top)
{
	size_t length = strlen(top);

	return length == 0 ||
	       (strncmp(path, top, length) == 0 && (!path[length] || path[length] == '/'));
}

/*
 * The service, for whoever of it writes: a shell does that by a process that is gone when we look.
 */
struct unix_peer request_holder(const struct request *q)
{
	const struct node *home = q->connection->inherited ? tree_find(q->tree, q->home) : NULL;
	struct unix_peer holder = q->connection->peer;

	if (home && home->service && home->service->main.pid > 0)
		holder.pid = home->service->main.pid;
	return holder;
}

static const struct {
	bool changes; /* only for those who may change things */
	bool all;     /* concerns the whole tree: not for a service that was given a connection */
	request_method *call;
} methods[N_METHODS] = {
	[METHOD_STATUS] = { false, false, request_status },
	[METHOD_OVERVIEW] = { false, false, request_overview },
	[METHOD_GUARDS] = { false, false, request_guards },
	[METHOD_START] = { true, false, request_start },
	[METHOD_STOP] = { true, false, request_stop },
	[METHOD_RESTART] = { true, false, request_restart },
	[METHOD_SHUTDOWN] = { true, false, request_shutdown },
	[METHOD_WAIT] = { false, false, request_wait },
	[METHOD_TAKE_GUARD] = { true, false, request_take_guard },
	[METHOD_RELEASE] = { true, false, request_release },
	[METHOD_RELOAD] = { true, true, request_reload },
	[METHOD_RELOAD_SERVICE] = { true, false, request_reload_service },
	[METHOD_SIGNAL] = { true, false, request_signal },
	[METHOD_EVENTS] = { false, false, request_events },
	[METHOD_RUN] = { true, true, request_run },
	[METHOD_PLAN] = { false, false, request_plan },
};

/* Why the call is not for who asks; NULL: it is. */
static const char *denial(const struct request *q, enum interface_method method, const char *path)
{
	if (methods[method].changes && !q->connection->privileged)
		return "only root, the daemon's own user and its control-group may change things";
	if ((q->connection->inherited && methods[method].all) ||
	    !request_path_is_within(path, q->home))
		return "this connection is for the node of a service and what is below it";
	return NULL;
}

void request_call(struct request *q, enum interface_method method, const struct message_call *call)
{
	const char *path = message_get_string(call->parameters, "node", q->home);
	struct node *node = tree_find(q->tree, path);
	const char *denied = denial(q, method, path);
	char why[REQUEST_REASON_MAX];

	q->method = method;
	if (denied) {
		request_fail(q, ERROR_NOT_PERMITTED, NULL, denied);
		return;
	}
	if (!node && method != METHOD_RUN) {
		if (!request_settle_passed(q, path, call))
			request_fail(q, ERROR_NO_SUCH_NODE, path, NULL);
		return;
	}
	if (methods[method].changes)
		events_because(q->tree->ctx->events, request_reason(q, call, why));
	methods[method].call(q, node, call);
}
