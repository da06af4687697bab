/*
 * By the JSON encoding of OTLP, identifiers are hexadecimal, 64-bit numbers are strings, and names of
 * members are in lowerCamelCase.
 */
#include "proto/history/otlp.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "proto/message.h"

#define KIND_INTERNAL 1
#define STATUS_ERROR  2

struct otlp {
	const struct report *report;
	enum otlp_kind kind;
	json_t *spans;
	uint64_t trace[2];
	bool failed; /* out of memory */
};

/* --- identifiers --- */

/* FNV-1a with 64 bits. */
static uint64_t otlp_hash_add(uint64_t hash, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		hash = (hash ^ *c) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3); /* the end of the text */
}

static uint64_t otlp_hash_number(uint64_t hash, uint64_t number)
{
	char text[TEXT_NUMBER_MAX];

	return otlp_hash_add(hash, text_number(text, number));
}

/* The span of the node @name in the trace @parent, or of a state or guard.  No identifier is 0. */
static uint64_t otlp_part_id(uint64_t parent, const char *name, size_t i)
{
	uint64_t id = otlp_hash_number(otlp_hash_add(parent, name), i);

	return id ? id : 1;
}

static uint64_t otlp_whole_id(const struct otlp *o)
{
	return otlp_part_id(o->trace[1], "whole", 0);
}

static json_t *otlp_hex_json(uint64_t high, uint64_t low, int digits)
{
	char text[33];

	(void)snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, high, low);
	return json_string(text + 32 - digits);
}

/* --- attributes --- */

static void otlp_add_attribute(struct otlp *o, json_t *attributes, const char *key,
			       const char *type, json_t *value)
{
	json_t *pair = json_pack("{s:s, s:{s:o}}", "key", key, "value", type, value);

	o->failed |= json_array_append_new(attributes, pair) < 0;
}

static void otlp_add_text(struct otlp *o, json_t *attributes, const char *key, const char *text)
{
	if (text)
		otlp_add_attribute(o, attributes, key, "stringValue", message_string(text));
}

static void otlp_add_number(struct otlp *o, json_t *attributes, const char *key, uint64_t number)
{
	char text[TEXT_NUMBER_MAX];

	if (number != FIELD_NONE)
		otlp_add_attribute(o, attributes, key, "intValue",
				   json_string(text_number(text, number)));
}

/* --- spans --- */

/* @usec is since the stop of the root.  The times of a file may be wrong. */
static json_t *otlp_nanoseconds_json(const struct otlp *o, int64_t usec)
{
	uint64_t time = o->report->view.time_usec;
	char text[TEXT_NUMBER_MAX];

	time = usec < 0 ? time - MIN(time, -(uint64_t)usec) : clock_add(time, (uint64_t)usec);
	return json_string(text_number(text, MIN(time, UINT64_MAX / 1000) * 1000));
}

struct span {
	uint64_t id, parent; /* 0: none */
	const char *name;
	int64_t begin_usec, end_usec;
	bool forced;
	json_t *attributes; /* taken */
};

static void otlp_add_span(struct otlp *o, const struct span *span)
{
	int64_t end = MAX(span->end_usec, span->begin_usec);
	json_t *object = json_pack(
		"{s:o, s:o, s:o, s:i, s:o, s:o, s:o}", "traceId",
		otlp_hex_json(o->trace[0], o->trace[1], 32), "spanId",
		otlp_hex_json(0, span->id, 16), "name", message_string(span->name), "kind",
		KIND_INTERNAL, "startTimeUnixNano", otlp_nanoseconds_json(o, span->begin_usec),
		"endTimeUnixNano", otlp_nanoseconds_json(o, end), "attributes", span->attributes);

	if (span->parent)
		o->failed |= json_object_set_new(object, "parentSpanId",
						 otlp_hex_json(0, span->parent, 16)) < 0;
	if (span->forced)
		o->failed |= json_object_set_new(
				     object, "status",
				     json_pack("{s:i, s:s}", "code", STATUS_ERROR, "message",
					       o->kind == OTLP_START ? "failed" : "forced")) < 0;
	o->failed |= json_array_append_new(o->spans, object) < 0;
}

static int64_t otlp_end_of(const struct otlp *o, uint64_t usec)
{
	return (int64_t)MIN(usec == FIELD_NONE ? o->report->view.total_usec : usec,
			    (uint64_t)INT64_MAX);
}

static bool otlp_is_shown(const struct otlp *o, const char *state)
{
	enum report_part part = report_part(state);

	if (o->kind == OTLP_START)
		return part == REPORT_RUNNING && strcmp(state, "up") != 0;
	return part != REPORT_RUNNING && part != REPORT_OVER;
}

static void otlp_add_states(struct otlp *o, const struct report_lane *lane, uint64_t parent)
{
	for (size_t i = 0; i < lane->n_states; i++) {
		const struct report_state *state = &lane->states[i];
		struct span span = {
			.id = otlp_part_id(parent, "state", i),
			.parent = parent,
			.name = state->state,
			.begin_usec = state->at_usec,
			.end_usec = i + 1 < lane->n_states
					    ? state[1].at_usec
					    : otlp_end_of(o, lane->node.complete_usec),
			.forced = report_part(state->state) == REPORT_KILLING,
		};

		if (!otlp_is_shown(o, state->state))
			continue;
		span.attributes = json_array();
		otlp_add_text(o, span.attributes, "swansong.node", lane->node.path);
		otlp_add_span(o, &span);
	}
}

static void otlp_add_guard(struct otlp *o, const struct report_lane *lane, size_t i,
			   uint64_t parent)
{
	const struct report_guard *guard = &lane->guards[i];
	struct span span = {
		.id = otlp_part_id(parent, "guard", i),
		.parent = parent,
		.name = guard->kind,
		.begin_usec = MAX(guard->taken_usec, lane->node.stop_usec),
		.end_usec = otlp_end_of(o, guard->gone_usec),
		.forced = guard->end &&
			  (strcmp(guard->end, "killed") == 0 || strcmp(guard->end, "revoked") == 0),
		.attributes = json_array(),
	};

	otlp_add_text(o, span.attributes, "swansong.node", lane->node.path);
	otlp_add_text(o, span.attributes, "swansong.guard.why", guard->why);
	otlp_add_text(o, span.attributes, "swansong.guard.end", guard->end);
	otlp_add_number(o, span.attributes, "swansong.guard.count", guard->count);
	otlp_add_number(o, span.attributes, "process.pid", guard->pid);
	otlp_add_text(o, span.attributes, "process.command", guard->command);
	otlp_add_span(o, &span);
}

/*
 * Returns the identifier of the node around @path in the report; that of the whole for the root, and in
 * a start, which has no groups.
 */
static uint64_t otlp_parent_of(const struct otlp *o, const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[256];

	if (!*path || o->kind == OTLP_START)
		return otlp_whole_id(o);
	(void)snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - path) : 0, path);
	return otlp_part_id(o->trace[0], parent, 0);
}

/* A start may have several lanes of a node. */
static void otlp_add_lane(struct otlp *o, const struct report_lane *lane)
{
	size_t i = o->kind == OTLP_START ? (size_t)(lane - o->report->lanes) : 0;
	const struct report_node *node = &lane->node;
	struct span span = {
		.id = otlp_part_id(o->trace[0], node->path, i),
		.parent = otlp_parent_of(o, node->path),
		.name = *node->path ? node->path : "root",
		.begin_usec = node->stop_usec,
		.end_usec = otlp_end_of(o, node->complete_usec),
		.forced = node->late_usec != FIELD_NONE,
		.attributes = json_array(),
	};

	otlp_add_text(o, span.attributes, "swansong.node", node->path);
	otlp_add_number(o, span.attributes, "swansong.generation", node->generation);
	otlp_add_attribute(o, span.attributes, "swansong.service", "boolValue",
			   json_boolean(node->is_service));
	otlp_add_span(o, &span);
	otlp_add_states(o, lane, span.id);
	for (i = 0; i < lane->n_guards; i++)
		otlp_add_guard(o, lane, i, span.id);
}

static void otlp_add_whole(struct otlp *o)
{
	const struct report_view *v = &o->report->view;
	struct span span = {
		.id = otlp_whole_id(o),
		.name = o->kind == OTLP_START ? "start" : "shutdown",
		.end_usec = otlp_end_of(o, v->total_usec),
		.forced = v->forced,
		.attributes = json_array(),
	};

	otlp_add_text(o, span.attributes, "swansong.cause", v->cause);
	otlp_add_text(o, span.attributes, "swansong.signal", v->signal);
	otlp_add_number(o, span.attributes, "swansong.exit_status", v->status);
	otlp_add_span(o, &span);
}

static json_t *otlp_build_resource(struct otlp *o)
{
	const struct report_view *v = &o->report->view;
	json_t *attributes = json_array();

	otlp_add_text(o, attributes, "service.name", "swansongd");
	otlp_add_text(o, attributes, "service.version", v->version);
	otlp_add_text(o, attributes, "host.name", v->host);
	otlp_add_number(o, attributes, "process.pid", v->pid);
	return json_pack("{s:o}", "attributes", attributes);
}

json_t *otlp_build(const struct report *report, enum otlp_kind kind)
{
	struct otlp o = { .report = report, .kind = kind, .spans = json_array() };
	const struct report_view *v = &report->view;
	json_t *all;

	for (size_t i = 0; i < 2; i++) {
		o.trace[i] = otlp_hash_number(UINT64_C(0xcbf29ce484222325), i);
		o.trace[i] = otlp_hash_add(o.trace[i], v->host);
		o.trace[i] = otlp_hash_number(o.trace[i], v->pid);
		o.trace[i] = otlp_hash_number(o.trace[i], v->time_usec);
	}
	otlp_add_whole(&o);
	for (size_t i = 0; i < report->n; i++)
		otlp_add_lane(&o, &report->lanes[i]);
	all = json_pack("{s:[{s:o, s:[{s:{s:s, s:o}, s:o}]}]}", "resourceSpans", "resource",
			otlp_build_resource(&o), "scopeSpans", "scope", "name", "swansong",
			"version", message_string(report->view.version), "spans", o.spans);
	if (o.failed) {
		json_decref(all);
		return NULL;
	}
	return all;
}
