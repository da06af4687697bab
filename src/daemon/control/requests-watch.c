#include "daemon/control/requests-private.h"
#include "daemon/demand/relief.h"
#include "daemon/logger/subscription.h"

/*
 * Streams of events and of log lines to clients.
 *
 * A client that reads gets each event as it happens.  A client that does not read gets no more
 * until it has read, and then the number of events that it has lost.  The stream ends when the
 * root is Complete, as no event can follow.
 */

#define EVENTS_PER_REPLY 64
/* The only reply to a call without `more`. */
#define EVENTS_AT_ONCE UINT64_C(512)

static json_t *request_event_json(const struct event *e)
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

/* Returns the next events of the node, at most @max, and the number of those that were lost. */
static json_t *request_take_events(struct request *q, size_t max)
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
		if (text_is_within(event.node, q->path))
			(void)json_array_append_new(list, request_event_json(&event));
	}
	return json_pack("{s:o, s:I}", "events", list, "lost", (json_int_t)lost);
}

/* Returns the number of the first of the last @n events of the node. */
static uint64_t request_find_last_event(const struct request *q, uint64_t n)
{
	const struct events *events = q->tree->ctx->events;
	uint64_t at = events_next(events);
	struct event event;

	while (n > 0 && at > 0 && events_get(events, at - 1, &event)) {
		at--;
		n -= text_is_within(event.node, q->path);
	}
	return at;
}

static uint64_t request_count_changes(const struct request *q)
{
	return q->tree->ctx->changes + q->tree->ctx->remarks;
}

void request_update_events(struct request *q, struct node *node)
{
	bool had_event = q->next_event < events_next(q->tree->ctx->events);
	uint64_t changes;

	while (!connection_is_clogged(q->connection) &&
	       q->next_event < events_next(q->tree->ctx->events)) {
		json_t *reply = request_take_events(q, EVENTS_PER_REPLY);

		if (json_array_size(json_object_get(reply, "events")) > 0 ||
		    json_integer_value(json_object_get(reply, "lost")) > 0)
			connection_reply(q->connection, reply, true);
		else
			json_decref(reply);
	}
	/* An event also counts as the report of a change. */
	changes = request_count_changes(q);
	if (q->changes && changes != q->seen_changes && (had_event || request_takes_progress(q))) {
		q->seen_changes = changes;
		if (!had_event)
			connection_reply(
				q->connection,
				json_pack("{s:[], s:i, s:b}", "events", "lost", 0, "changed", 1),
				true);
	}
	if (q->tree->root->complete && !connection_is_clogged(q->connection))
		request_reply(q, request_take_events(q, 0));
}

void request_events(struct request *q, struct node *node, const struct message_call *call)
{
	uint64_t n = message_get_number(call->parameters, "last", call->more ? 0 : UINT64_MAX);

	q->next_event = request_find_last_event(q, call->more ? n : MIN(n, EVENTS_AT_ONCE));
	if (!call->more) {
		request_reply(q, request_take_events(q, EVENTS_AT_ONCE));
		return;
	}
	q->waiting = true;
	q->changes = message_get_bool(call->parameters, "changes", false);
	q->seen_changes = request_count_changes(q);
	/* An observer may stop reading for as long as it likes. */
	q->connection->patient = true;
	/* The first reply, even an empty one, confirms that later events will be sent. */
	connection_reply(q->connection, request_take_events(q, EVENTS_PER_REPLY), true);
	request_update_events(q, node);
}

/* --- inhibitors --- */

/* Returns the names of the nodes that the host has to wait for: a member for each kind of lock. */
static json_t *request_describe_inhibitors(const struct tree *tree)
{
	json_t *lists = json_pack("{s:[], s:[], s:[], s:[]}", "shutdown_delay", "shutdown_block",
				  "sleep_delay", "sleep_block");

	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		const struct extras *extras = node_config_extras(n->config);
		bool block = extras->inhibit & INHIBIT_BLOCK;
		bool stops = n->service && extras->on_sleep;

		if (!(extras->inhibit || stops) || swansong_guard_count(n->handle) == 0)
			continue;
		if (extras->inhibit & INHIBIT_SHUTDOWN)
			(void)json_array_append_new(
				json_object_get(lists, block ? "shutdown_block" : "shutdown_delay"),
				message_string(node_name(n)));
		block = block && extras->inhibit & INHIBIT_SLEEP;
		if (stops || extras->inhibit & INHIBIT_SLEEP)
			(void)json_array_append_new(
				json_object_get(lists, block ? "sleep_block" : "sleep_delay"),
				message_string(node_name(n)));
	}
	return lists;
}

void request_update_inhibit(struct request *q, struct node *node)
{
	uint64_t changes = request_count_changes(q) + events_next(q->tree->ctx->events);
	json_t *lists;

	if (changes == q->seen_changes || !request_takes_progress(q))
		return;
	q->seen_changes = changes;
	lists = request_describe_inhibitors(q->tree);
	if (!json_equal(lists, q->with))
		connection_reply(q->connection, json_incref(lists), true);
	json_decref(q->with);
	q->with = lists;
}

void request_inhibit(struct request *q, struct node *node, const struct message_call *call)
{
	if (!call->more) {
		request_reply(q, request_describe_inhibitors(q->tree));
		return;
	}
	q->asleep = message_get_bool(call->parameters, "sleep", false);
	if (q->asleep)
		relief_begin_sleep(q->tree);
	q->waiting = true;
	q->seen_changes = UINT64_MAX;
	request_update_inhibit(q, node);
}

/* --- logs --- */

/* The destination, of the logger if there is a stream, else by the configuration. */
static const char *request_output_place(const struct output *output,
					const struct log_stream *stream)
{
	static const char *const by_logger[LOGGER_TOS] = {
		[LOGGER_TO_MEMORY] = "null",	 [LOGGER_TO_FILE] = "file",
		[LOGGER_TO_OUTPUT] = "stdout",	 [LOGGER_TO_ERROR] = "stderr",
		[LOGGER_TO_JOURNAL] = "journal", [LOGGER_TO_SYSLOG] = "syslog",
	};
	static const char *const by_service[] = {
		[OUTPUT_INHERIT] = "inherit", [OUTPUT_NULL] = "null",
		[OUTPUT_FILE] = "file",	      [OUTPUT_JOURNAL] = "journal",
		[OUTPUT_SYSLOG] = "syslog",   [OUTPUT_STDOUT] = "stdout",
		[OUTPUT_STDERR] = "stderr",   [OUTPUT_DEFAULT] = "inherit",
	};

	return stream ? by_logger[log_stream_rules(stream)->to] : by_service[output->kind];
}

/* Adds the outputs of a service: each captured one, or else the first. */
static void request_add_outputs(json_t *list, const struct node *node)
{
	const struct capture *capture = node->service->setup.launch.capture;

	for (enum logger_kind kind = 0; kind < LOGGER_KINDS; kind++) {
		const struct output *output = node_config_output(node->config, 1 + (int)kind);
		const struct log_stream *stream = capture_stream(capture, kind);
		struct output_view view = {
			.node = node->path,
			.stream = kind,
			.to = request_output_place(output, stream),
			.captured = stream,
			.file = output->kind == OUTPUT_FILE ? output->path : NULL,
			.timestamp = stream ? log_stream_rules(stream)->stamp : LOGGER_STAMP_NONE,
		};

		if (view.captured || (kind == LOGGER_OUTPUT && !capture))
			(void)json_array_append_new(list, output_view_build(&view));
	}
}

static bool request_is_wanted_output(const char *path, void *arg)
{
	return message_has_within(((const struct request *)arg)->with, path);
}

static json_t *request_describe_outputs(struct request *q)
{
	struct node *root = q->tree->root;
	json_t *list = json_array();

	for (struct node *n = root; n; n = node_next(n, root))
		if (n->service && request_is_wanted_output(n->path, q))
			request_add_outputs(list, n);
	return json_pack("{s:o}", "outputs", list);
}

/* Puts the paths of @nodes into @q->with.  Return: false if the call was answered with an error. */
static bool request_find_log_nodes(struct request *q, const json_t *nodes)
{
	size_t i;
	json_t *name;

	q->with = json_array();
	json_array_foreach (nodes, i, name) {
		const struct node *node = request_find(q, json_string_value(name));
		const char *denied = node ? request_denial(q, node->path) : NULL;

		if (!node)
			request_fail_unknown(q, json_string_value(name));
		else if (denied)
			request_fail(q, ERROR_NOT_PERMITTED, NULL, denied);
		if (!node || denied)
			return false;
		(void)json_array_append_new(q->with, json_string(node->path));
	}
	return true;
}

void request_update_logs(struct request *q, struct node *node)
{
	int r = log_subscription_update(q->logs);

	if (r == 0 && q->more && !q->begin_sent)
		connection_reply(q->connection, request_describe_outputs(q), true);
	else if (r == 0 && !q->more)
		request_reply(q, request_describe_outputs(q));
	else if (r < 0 && r != -EAGAIN)
		request_succeed(q);
	q->begin_sent |= r == 0;
}

void request_logs(struct request *q, struct node *node, const struct message_call *call)
{
	struct context *ctx = q->tree->ctx;
	const struct log_subscription_wish wish = {
		.lines = message_get_number(call->parameters, "lines", 0),
		.follow = call->more,
		.older = message_get_bool(call->parameters, "older", false),
		.is_wanted = request_is_wanted_output,
		.arg = q,
	};
	int r, fd;

	if (!request_find_log_nodes(q, json_object_get(call->parameters, "nodes")))
		return;
	if (call->oneway || !ctx->logger || !logging_is_usable(ctx->logger)) {
		request_reply(q, request_describe_outputs(q));
		return;
	}
	r = log_subscription_new(&q->logs, ctx, &wish, &fd);
	if (r < 0) {
		request_fail(q, ERROR_FAILED, NULL, strerror(-r));
		return;
	}
	q->begin_sent = false;
	q->waiting = true;
	/* The descriptor goes with the next reply. */
	frame_writer_pass(&q->connection->writer, fd);
	request_update_logs(q, node);
}

void request_reopen_logs(struct request *q, struct node *node, const struct message_call *call)
{
	if (q->tree->ctx->logger)
		logging_reopen(q->tree->ctx->logger, node->path);
	request_succeed(q);
}
