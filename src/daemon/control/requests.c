#include "daemon/control/requests.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/control/requests-private.h"

void request_end_wait(struct request *q)
{
	q->waiting = false;
	q->completion = swansong_completion_unref(q->completion);
	json_decref(q->with);
	q->with = NULL;
	alarm_stop(&q->tree->ctx->alarms, &q->progress);
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

bool request_is_implied_by_the_end(const char *until)
{
	return strcmp(until, "stopping") == 0 || strcmp(until, "complete") == 0;
}
