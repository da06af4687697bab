/*
 * The forced kills of a stop, for the client that has requested the stop and waits for its end.
 * They are selected by time and by path from the ring of forced kills.
 */

#include "daemon/control/requests-private.h"

void request_note_stop(struct request *q, const struct node *node, const struct message_call *call)
{
	bool waits = message_get_bool(call->parameters, "wait", true);
	bool asked_before = q->stopped_usec && node->stop_usec >= q->stopped_usec;
	uint64_t usec = clock_now_usec();

	/*
	 * A stop may have begun before this request.  One that is over does not count, unless this
	 * connection has requested it.
	 */
	if (node->stop_usec && (!node->complete || asked_before))
		usec = node->stop_usec;
	/* A client may request several stops, and then wait for each. */
	if (waits || !q->stopped_usec || usec < q->stopped_usec)
		q->stopped_usec = usec;
	if (!waits && (node->transient || node->goal == GOAL_GONE)) {
		if (!q->passing)
			q->passing = json_object();
		(void)json_object_set_new(q->passing, node->path, json_true());
	}
}

bool request_reply_passed(struct request *q, const char *path, const struct message_call *call)
{
	const char *until = message_get_string(call->parameters, "until", "complete");
	bool ends = q->method == METHOD_STOP || q->method == METHOD_SHUTDOWN ||
		    (q->method == METHOD_WAIT && request_is_implied_by_the_end(until));

	if (!ends || json_object_del(q->passing, path) < 0)
		return false;
	(void)snprintf(q->path, sizeof(q->path), "%s", path);
	request_succeed_stop(q, NULL);
	return true;
}

/* Returns the forced kills of the stop, the oldest first. */
static json_t *request_forced_kills_of(const struct request *q)
{
	json_t *list = json_array();
	struct forced_kill kill;

	for (size_t i = 0; forced_kills_get(q->tree->ctx->forced_kills, i, &kill); i++) {
		if (kill.usec < q->stopped_usec)
			break;
		/* Its node, or one below it, or one that was stopped with it. */
		if (text_is_within(kill.node, q->path) || message_has_within(q->with, kill.node))
			(void)json_array_insert_new(list, 0,
						    json_pack("{s:o, s:o}", "node",
							      message_string(kill.node), "what",
							      message_string(kill.what)));
	}
	return list;
}

void request_add_forced_kills(const struct request *q, const struct node *node, json_t *reply)
{
	json_t *kills;

	if (!q->stopped_usec)
		return;
	kills = request_forced_kills_of(q);
	/* The node knows this even if the ring has lost the kills. */
	if (json_array_size(kills) > 0 || (node && node->force.any_usec >= q->stopped_usec)) {
		(void)json_object_set_new(reply, "forced", json_true());
		(void)json_object_set(reply, "losses", kills);
	}
	json_decref(kills);
}

void request_add_dependents(const struct request *q, json_t *reply)
{
	if (json_array_size(q->with) > 0)
		(void)json_object_set(reply, "with", q->with);
}

void request_fail_stop(struct request *q, const struct node *node, const struct node *failed,
		       const char *reason)
{
	json_t *more = json_object();

	request_add_forced_kills(q, node, more);
	request_end_wait(q);
	connection_fail(q->connection, ERROR_FAILED, node_name(failed), reason, more);
}

void request_succeed_stop(struct request *q, const struct node *node)
{
	json_t *reply = json_object();

	request_add_forced_kills(q, node, reply);
	request_add_dependents(q, reply);
	request_reply(q, reply);
}
