/*
 * A header Host, and behind its newline replies of a daemon, each ended by a NUL, as
 * swansong-exporter reads both.  After each reply the copy is written in all of its forms.  Each reply
 * is also taken for the body of an action, and all of the input
 * for frames of the logger.
 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "exporter/http/access.h"
#include "exporter/http/action.h"
#include "exporter/mirror/tail.h"
#include "exporter/mirror/totals.h"
#include "exporter/text/api.h"
#include "exporter/text/health.h"
#include "exporter/text/html.h"
#include "exporter/text/metrics.h"
#include "proto/logger-message.h"
#include "proto/message.h"

#define NOW UINT64_C(2000000000)

struct site {
	struct copy copy;
	struct totals totals;
};

/* Each line is a comment, or the sample of a metric of ours. */
static void check_metrics(const struct site *site)
{
	const struct metrics_source source = {
		.copy = &site->copy,
		.totals = &site->totals,
		.up = true,
		.max_nodes = METRICS_NODES_DEFAULT,
		.now_usec = NOW,
	};
	cleanup(freep) char *text = NULL;
	struct memstream m;

	FUZZ_CHECK(memstream_open(&m) == 0);
	metrics_write(m.file, &source, METRICS_OPENMETRICS);
	FUZZ_CHECK(memstream_close(&m, &text) == 0);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
		FUZZ_CHECK(*line == '#' || strncmp(line, "swansong_", 9) == 0);
		FUZZ_CHECK(strchr(line, '\n'));
	}
}

/* No text of a node begins an element: there are those of the table, and nothing else. */
static void check_page(const struct copy *copy)
{
	cleanup(freep) char *text = NULL;
	struct memstream m;
	size_t tags = 0;

	FUZZ_CHECK(memstream_open(&m) == 0);
	html_tree(m.file, copy, true, NOW);
	FUZZ_CHECK(memstream_close(&m, &text) == 0);
	for (const char *at = text; (at = strchr(at, '<')); at++)
		tags++;
	FUZZ_CHECK(tags == 18 + 10 * copy->n);
}

/* The object can be sent, and read again. */
static void check_json(json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT);
	json_t *again;

	FUZZ_CHECK(text && !strchr(text, '\n'));
	again = json_loads(text, 0, NULL);
	FUZZ_CHECK(again && json_equal(again, object));
	json_decref(again);
	json_decref(object);
	free(text);
}

static void check(const struct site *site)
{
	const struct copy *copy = &site->copy;
	bool ok;

	check_metrics(site);
	check_page(copy);
	check_json(api_tree(copy, true, NOW));
	check_json(api_guards(copy, NOW));
	check_json(api_shutdown(copy, true, true, NOW));
	check_json(health_ready(copy, true, &ok));
	for (size_t i = 0; i < copy->n && i < 4; i++)
		check_json(api_node_page(copy, &copy->nodes[i], true, NOW));
}

static void parse_frames(const char *data, size_t size)
{
	struct logger_frame frame;
	const char *text;
	size_t length;
	ssize_t n;

	while ((n = logger_frame_parse(data, size, &frame, &text, &length)) > 0) {
		FUZZ_CHECK(text >= data && text + length == data + n && (size_t)n <= size);
		data += n;
		size -= (size_t)n;
	}
}

static void parse_body(const char *text)
{
	enum interface_method method = N_METHODS;
	const char *fault;
	json_t *parameters = action_parse(text, strlen(text), &method, &fault);

	FUZZ_CHECK(!parameters ||
		   (method != N_METHODS && json_is_string(json_object_get(parameters, "node"))));
	if (parameters)
		check_json(parameters);
}

static void take_reply(struct site *site, const char *text)
{
	struct message_reply reply;
	const json_t *events;

	if (message_parse_reply(text, &reply) < 0)
		return;
	events = json_object_get(reply.parameters, "events");
	(void)copy_take_nodes(&site->copy, json_object_get(reply.parameters, "nodes"), NOW / 2);
	(void)copy_take_guards(&site->copy, reply.parameters, NOW / 2);
	if (json_is_array(events)) {
		json_t *fresh = copy_take_events(&site->copy, events);

		totals_take(&site->totals, fresh);
		json_decref(fresh);
	}
	totals_prune(&site->totals, &site->copy);
	shown_forget(&site->copy.shown);
	shown_want(&site->copy.shown, "web");
	shown_take(&site->copy.shown, shown_next(&site->copy.shown), reply.parameters);
	message_reply_done(&reply);
	check(site);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct access access = { .hosts = { "a.example" }, .n = 1 };
	cleanup(freep) char *text = malloc(size + 1);
	struct site site;
	char *at, *end;

	FUZZ_CHECK(text);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	parse_frames(text, size);
	at = strchr(text, '\n');
	if (!at)
		return 0;
	*at++ = '\0';
	(void)access_allows_origin(text, text);
	FUZZ_CHECK(!access_allows_host(&access, text) || strlen(text) < 300);
	copy_init(&site.copy);
	totals_init(&site.totals);
	for (end = text + size; at < end; at += strlen(at) + 1) {
		parse_body(at);
		take_reply(&site, at);
	}
	totals_done(&site.totals);
	copy_done(&site.copy);
	return 0;
}
