#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/requests-private.h"

/* What a stop that somebody has asked for, and waits for, has cost. */

void request_note_stop(struct request *q, const struct node *node, const struct message_call *call)
{
	bool waits = message_get_bool(call->parameters, "wait", true);
	bool asked_before = q->stopped_usec && node->stop_usec >= q->stopped_usec;
	uint64_t usec = clock_now_usec();

	/*
	 * It may have begun before, and what is over was for others, unless that was asked for
	 * here.
	 */
	if (node->stop_usec && (!node->complete || asked_before))
		usec = node->stop_usec;
	/* Several may be asked for, and then waited for in turn. */
	if (waits || !q->stopped_usec || usec < q->stopped_usec)
		q->stopped_usec = usec;
	if (!waits && (node->transient || node->retired)) {
		if (!q->passing)
			q->passing = json_object();
		(void)json_object_set_new(q->passing, node->config->path, json_true());
	}
}

bool request_settle_passed(struct request *q, const char *path, const struct message_call *call)
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

/* Those of it, the oldest first. */
static json_t *losses_of(const struct request *q)
{
	json_t *list = json_array();
	struct loss loss;

	for (size_t i = 0; losses_get(q->tree->ctx->losses, i, &loss); i++) {
		if (loss.usec < q->stopped_usec)
			break;
		if (request_path_is_within(loss.node, q->path))
			(void)json_array_insert_new(list, 0,
						    json_pack("{s:o, s:o}", "node",
							      message_string(loss.node), "what",
							      message_string(loss.what)));
	}
	return list;
}

void request_add_losses(const struct request *q, const struct node *node, json_t *reply)
{
	json_t *losses;

	if (!q->stopped_usec)
		return;
	losses = losses_of(q);
	/* Which is known also where there were more than are remembered. */
	if (json_array_size(losses) > 0 || (node && node->forced_usec >= q->stopped_usec)) {
		(void)json_object_set_new(reply, "forced", json_true());
		(void)json_object_set(reply, "losses", losses);
	}
	json_decref(losses);
}

void request_fail_stop(struct request *q, const struct node *node, const struct node *failed,
		       const char *reason)
{
	json_t *more = json_object();

	request_add_losses(q, node, more);
	request_end_wait(q);
	connection_fail_with(q->connection, ERROR_FAILED, node_name(failed), reason, more);
}

void request_succeed_stop(struct request *q, const struct node *node)
{
	json_t *reply = json_object();

	request_add_losses(q, node, reply);
	request_reply(q, reply);
}
