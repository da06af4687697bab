/*
 * Functions that methods share: errors, the running service, the reason for the log, the holder of
 * guards.
 */

#include "daemon/control/requests-private.h"
#include "daemon/demand/relief.h"
#include "daemon/logger/subscription.h"

void request_end_wait(struct request *q)
{
	q->waiting = false;
	q->completion = swansong_completion_unref(q->completion);
	json_decref(q->with);
	json_decref(q->parameters);
	q->with = q->parameters = NULL;
	if (q->tape > 0)
		(void)close(q->tape);
	q->tape = 0;
	q->logs = log_subscription_free(q->logs);
	if (q->asleep)
		relief_end_sleep(q->tree);
	q->asleep = false;
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
	connection_fail(q->connection, error, node, reason, NULL);
}

struct node *request_find(const struct request *q, const char *path)
{
	struct node *node = tree_find(q->tree, path);

	return node ? node : tree_find_last(q->tree, path);
}

const char *request_denial(const struct request *q, const char *path)
{
	if (text_is_within(path, q->connection->home))
		return NULL;
	return "this connection is limited to the node of its service and the nodes below";
}

void request_fail_unknown(struct request *q, const char *path)
{
	const char *similar[TREE_SIMILAR_MAX];
	size_t n = tree_find_similar(q->tree, path, similar);
	json_t *more = n > 0 ? json_object() : NULL, *paths = json_array();

	for (size_t i = 0; i < n; i++)
		if (text_is_within(similar[i], q->connection->home))
			(void)json_array_append_new(paths, json_string(similar[i]));
	(void)json_object_set(more, "similar", paths);
	json_decref(paths);
	request_end_wait(q);
	connection_fail(q->connection, ERROR_NO_SUCH_NODE, path, NULL, more);
}

struct service *request_find_running_service(struct request *q, struct node *node)
{
	if (!node->service)
		request_fail(q, ERROR_FAILED, node_name(node), "is a group, not a service");
	else if (!node->service->main.alive)
		request_fail(q, ERROR_FAILED, node_name(node), "does not run");
	else
		return node->service;
	return NULL;
}

const char *request_reason(struct request *q, const struct message_call *call,
			   char buf[static REQUEST_REASON_MAX])
{
	const char *why = message_get_text(call->parameters, "reason");

	(void)snprintf(buf, REQUEST_REASON_MAX, "asked by pid %d, uid %u%s%s",
		       (int)q->connection->peer.pid, q->connection->peer.uid, *why ? ": " : "",
		       why);
	return buf;
}

/*
 * A process of a service may be gone when its call is read, as with shells: the guard is the
 * service's.
 */
struct ucred request_holder(const struct request *q)
{
	const struct node *home =
		q->connection->inherited ? tree_find(q->tree, q->connection->home) : NULL;
	struct ucred holder = q->connection->peer;

	if (home && home->service && home->service->main.pid > 0)
		holder.pid = home->service->main.pid;
	return holder;
}

bool request_is_implied_by_the_end(const char *until)
{
	return strcmp(until, "stopping") == 0 || strcmp(until, "complete") == 0;
}
