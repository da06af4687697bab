#include <string.h>

#include "daemon/loop/events.h"
#include "daemon/control/requests-private.h"

/*
 * The stream of events.  A client that reads gets each as it happens; one that does not is told no
 * more until it has read, and then hears how many it has lost meanwhile.  After the root is Complete
 * nothing happens any more, and the stream ends.
 */

#define EVENTS_PER_REPLY 64

static json_t *event_json(const struct event *e)
{
	json_t *object = json_pack("{s:I, s:I, s:s, s:o, s:I, s:s, s:s}", "number",
				   (json_int_t)e->number, "time_usec", (json_int_t)e->realtime_usec,
				   "kind", e->kind, "node", message_string(e->node), "generation",
				   (json_int_t)e->generation, "from", e->from, "to", e->to);

	if (*e->reason)
		(void)json_object_set_new(object, "reason", message_string(e->reason));
	if (*e->cause)
		(void)json_object_set_new(object, "cause", message_string(e->cause));
	return object;
}

/* Those of the node that come next, at most @max, and how many are not remembered any more. */
static json_t *take_events(struct request *q, size_t max)
{
	const struct events *events = q->tree->ctx->events;
	uint64_t first = events_first(events), lost = 0;
	json_t *list = json_array();
	struct event event;

	if (q->next_event < first) {
		lost = first - q->next_event;
		q->next_event = first;
	}
	while (json_array_size(list) < max && events_get(events, q->next_event, &event)) {
		q->next_event++;
		if (request_path_is_within(event.node, q->path))
			(void)json_array_append_new(list, event_json(&event));
	}
	return json_pack("{s:o, s:I}", "events", list, "lost", (json_int_t)lost);
}

/* Where the last @n of the node begin. */
static uint64_t find_last(const struct request *q, uint64_t n)
{
	const struct events *events = q->tree->ctx->events;
	uint64_t at = events_next(events);
	struct event event;

	while (n > 0 && at > 0 && events_get(events, at - 1, &event)) {
		at--;
		n -= request_path_is_within(event.node, q->path);
	}
	return at;
}

void request_settle_events(struct request *q, struct node *node)
{
	(void)node;
	while (!connection_is_clogged(q->connection) &&
	       q->next_event < events_next(q->tree->ctx->events)) {
		json_t *reply = take_events(q, EVENTS_PER_REPLY);

		if (json_array_size(json_object_get(reply, "events")) > 0 ||
		    json_integer_value(json_object_get(reply, "lost")) > 0)
			connection_reply(q->connection, reply, true);
		else
			json_decref(reply);
	}
	if (q->tree->root->complete && !connection_is_clogged(q->connection))
		request_reply(q, take_events(q, 0));
}

void request_events(struct request *q, struct node *node, const struct message_call *call)
{
	uint64_t n = message_get_number(call->parameters, "last", call->more ? 0 : EVENTS_MAX);

	(void)strcpy(q->path, node->config->path);
	q->next_event = find_last(q, n);
	if (!call->more) {
		request_reply(q, take_events(q, EVENTS_MAX));
		return;
	}
	q->waiting = true;
	/* Who only looks at what happens may look away for as long as he likes. */
	q->connection->patient = true;
	/* The first says that what comes from now on is heard, even if it is empty. */
	connection_reply(q->connection, take_events(q, EVENTS_PER_REPLY), true);
	request_settle_events(q, node);
}
