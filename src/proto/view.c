#include "proto/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macro.h"
#include "proto/message.h"

static const char *const node_states[] = {
	[NODE_RUNNING] = "running",
	[NODE_SHUTTING_DOWN] = "shutting_down",
	[NODE_COMPLETE] = "complete",
	NULL,
};

static const char *const service_states[] = {
	"down",	     "preparing", "starting", "readying", "up",	     "draining",
	"gated",     "asking",	  "stopping", "killing",  "closing", "cleaning",
	"finishing", "backoff",	  "done",     "failed",	  NULL,
};

static const char *const health_states[] = { "unknown", "healthy", "unhealthy", NULL };

static const char *const plan_kinds[] = { "service", "final", NULL };

static const char *const guard_kinds[] = {
	"process", "action", "leftover", "program", "lease", NULL
};

/* A node as it is in JSON, with its service an object. */
struct node_object {
	json_t *service;
	struct node_view view;
};

#define NODE_FIELD(kind, member, ...)                                            \
	{                                                                        \
		.name = #member, .type = kind,                                   \
		.offset = offsetof(struct node_object, view.member), __VA_ARGS__ \
	}

static const struct field service_fields[] = {
	FIELD(service_view, FIELD_ENUM, state, .values = service_states),
	FIELD(service_view, FIELD_INT, since_usec),
	FIELD(service_view, FIELD_INT, pid, .optional = true),
	FIELD(service_view, FIELD_STRING, command),
	FIELD(service_view, FIELD_BOOL, ready),
	FIELD(service_view, FIELD_INT, restarts),
	FIELD(service_view, FIELD_STRING, result, .optional = true),
	FIELD(service_view, FIELD_STRING, status, .optional = true),
	FIELD(service_view, FIELD_STRINGS, waiting),
	FIELD(service_view, FIELD_INT, next_usec, .optional = true),
	FIELD(service_view, FIELD_INT, error, .optional = true),
	FIELD(service_view, FIELD_INT, reloading_usec, .optional = true),
	FIELD(service_view, FIELD_BOOL, ending, .optional = true),
	FIELD(service_view, FIELD_INT, watchdog_usec, .optional = true),
	FIELD(service_view, FIELD_INT, stored, .optional = true),
	FIELD(service_view, FIELD_STRING, log, .optional = true),
	FIELD(service_view, FIELD_ENUM, health, .optional = true, .values = health_states),
	FIELD(service_view, FIELD_INT, health_since_usec, .optional = true),
	FIELD(service_view, FIELD_STRING, health_result, .optional = true),
};

static const struct field node_fields[] = {
	NODE_FIELD(FIELD_STRING, path),
	NODE_FIELD(FIELD_INT, generation),
	NODE_FIELD(FIELD_CHOICE, state, .values = node_states),
	NODE_FIELD(FIELD_INT, since_usec),
	NODE_FIELD(FIELD_INT, guards),
	NODE_FIELD(FIELD_BOOL, ready),
	NODE_FIELD(FIELD_BOOL, forced),
	NODE_FIELD(FIELD_INT, deadline_usec, .optional = true),
	FIELD(node_object, FIELD_OBJECT, service, .optional = true),
};

/* Those of the node and those of its service, side by side. */
#define COLUMN(column, kind, member, ...)                                                   \
	{                                                                                   \
		.name = column, .type = kind, .offset = offsetof(struct node_view, member), \
		__VA_ARGS__                                                                 \
	}

static const struct field column_fields[] = {
	FIELD(node_view, FIELD_STRING, path),
	FIELD(node_view, FIELD_INT, generation),
	FIELD(node_view, FIELD_CHOICE, state, .values = node_states),
	FIELD(node_view, FIELD_INT, since_usec),
	FIELD(node_view, FIELD_INT, guards),
	FIELD(node_view, FIELD_BOOL, ready),
	FIELD(node_view, FIELD_BOOL, forced),
	FIELD(node_view, FIELD_INT, deadline_usec, .optional = true),
	COLUMN("service", FIELD_ENUM, service.state, .optional = true, .values = service_states),
	COLUMN("pid", FIELD_INT, service.pid, .optional = true),
	COLUMN("restarts", FIELD_INT, service.restarts),
	COLUMN("result", FIELD_STRING, service.result, .optional = true),
	COLUMN("status", FIELD_STRING, service.status, .optional = true),
	COLUMN("waiting", FIELD_STRINGS, service.waiting),
	COLUMN("next_usec", FIELD_INT, service.next_usec, .optional = true),
	COLUMN("reloading_usec", FIELD_INT, service.reloading_usec, .optional = true),
	COLUMN("ending", FIELD_BOOL, service.ending),
	COLUMN("health", FIELD_ENUM, service.health, .optional = true, .values = health_states),
};

static const struct field guard_fields[] = {
	FIELD(guard_view, FIELD_INT, id),
	FIELD(guard_view, FIELD_STRING, node),
	FIELD(guard_view, FIELD_INT, generation),
	FIELD(guard_view, FIELD_ENUM, kind, .values = guard_kinds),
	FIELD(guard_view, FIELD_INT, pid, .optional = true),
	FIELD(guard_view, FIELD_INT, uid, .optional = true),
	FIELD(guard_view, FIELD_STRING, command, .optional = true),
	FIELD(guard_view, FIELD_STRING, why, .optional = true),
	FIELD(guard_view, FIELD_INT, age_usec),
	FIELD(guard_view, FIELD_INT, kill_usec, .optional = true),
	FIELD(guard_view, FIELD_INT, count, .optional = true),
	FIELD(guard_view, FIELD_INT, ttl_usec, .optional = true),
};

static const struct field plan_entry_fields[] = {
	FIELD(plan_entry_view, FIELD_STRING, node),
	FIELD(plan_entry_view, FIELD_ENUM, kind, .values = plan_kinds),
	FIELD(plan_entry_view, FIELD_INT, step),
	FIELD(plan_entry_view, FIELD_STRINGS, waits),
	FIELD(plan_entry_view, FIELD_INT, more_waits, .optional = true),
	FIELD(plan_entry_view, FIELD_BOOL, critical),
	FIELD(plan_entry_view, FIELD_INT, soonest_usec, .optional = true),
	FIELD(plan_entry_view, FIELD_INT, begin_usec, .optional = true),
	FIELD(plan_entry_view, FIELD_INT, end_usec, .optional = true),
	FIELD(plan_entry_view, FIELD_STRING, budget, .optional = true),
	FIELD(plan_entry_view, FIELD_INT, busy_begin_usec, .optional = true),
	FIELD(plan_entry_view, FIELD_INT, busy_end_usec, .optional = true),
	FIELD(plan_entry_view, FIELD_STRING, busy_budget, .optional = true),
};

_Static_assert(ARRAY_SIZE(service_fields) <= FIELDS_MAX, "they can be read");
_Static_assert(ARRAY_SIZE(node_fields) <= FIELDS_MAX, "they can be read");
_Static_assert(ARRAY_SIZE(column_fields) <= FIELDS_MAX, "they fit");
_Static_assert(ARRAY_SIZE(guard_fields) <= FIELDS_MAX, "they can be read");

const char *node_view_state_name(enum node_view_state state)
{
	return node_states[state];
}

json_t *node_view_build(const struct node_view *node)
{
	cleanup(json_decrefp) json_t *service = NULL;
	struct node_object object = { .view = *node };

	if (node->is_service) {
		service = field_write(service_fields, ARRAY_SIZE(service_fields), &node->service);
		if (!service)
			return NULL;
		object.service = service;
	}
	return field_write(node_fields, ARRAY_SIZE(node_fields), &object);
}

void node_view_append(struct writer *to, const struct node_view *node)
{
	struct node_object object = { .view = *node };

	writer_add(to, "{");
	field_append(to, node_fields, ARRAY_SIZE(node_fields), &object);
	if (node->is_service) {
		/* The path is always there, so something has come before it. */
		writer_add(to, ",\"service\":{");
		field_append(to, service_fields, ARRAY_SIZE(service_fields), &node->service);
		writer_add(to, "}");
	}
	writer_add(to, "}");
}

/* What there is to say of a service that is none. */
static const struct service_view no_service = {
	.pid = FIELD_NONE,
	.next_usec = FIELD_NONE,
	.error = FIELD_NONE,
	.reloading_usec = FIELD_NONE,
	.watchdog_usec = FIELD_NONE,
	.stored = FIELD_NONE,
	.health_since_usec = FIELD_NONE,
};

void node_columns_init(struct columns *columns)
{
	columns_init(columns, column_fields, ARRAY_SIZE(column_fields));
}

void node_columns_add(struct columns *columns, const struct node_view *node)
{
	struct node_view row = *node;

	if (row.is_service)
		row.since_usec = row.service.since_usec;
	else
		row.service = no_service;
	row.since_usec -= row.since_usec % USEC_PER_MSEC;
	columns_add(columns, &row);
}

json_t *guard_view_build(const struct guard_view *guard)
{
	struct guard_view view = *guard;

	if (strcmp(view.kind, "lease") != 0)
		view.ttl_usec = FIELD_NONE;
	return field_write(guard_fields, ARRAY_SIZE(guard_fields), &view);
}

json_t *plan_entry_view_build(const struct plan_entry_view *entry)
{
	return field_write(plan_entry_fields, ARRAY_SIZE(plan_entry_fields), entry);
}

void plan_entry_view_append(struct writer *to, const struct plan_entry_view *entry)
{
	writer_add(to, "{");
	field_append(to, plan_entry_fields, ARRAY_SIZE(plan_entry_fields), entry);
	writer_add(to, "}");
}

static int parse(const json_t *object, const struct field *fields, size_t n, void *to)
{
	return json_is_object(object) && !field_read(object, fields, n, to) ? 0 : -EBADMSG;
}

static int parse_node(const json_t *object, void *ret)
{
	struct node_object o = {};
	int r;

	r = parse(object, node_fields, ARRAY_SIZE(node_fields), &o);
	if (r < 0)
		return r;
	o.view.is_service = o.service;
	if (o.service) {
		r = parse(o.service, service_fields, ARRAY_SIZE(service_fields), &o.view.service);
		if (r < 0)
			return r;
	}
	*(struct node_view *)ret = o.view;
	return 0;
}

static int parse_guard(const json_t *object, void *ret)
{
	struct guard_view view;
	int r = parse(object, guard_fields, ARRAY_SIZE(guard_fields), &view);

	if (r < 0)
		return r;
	*(struct guard_view *)ret = view;
	return 0;
}

static int parse_plan_entry(const json_t *object, void *ret)
{
	struct plan_entry_view view;
	int r = parse(object, plan_entry_fields, ARRAY_SIZE(plan_entry_fields), &view);

	if (r < 0)
		return r;
	*(struct plan_entry_view *)ret = view;
	return 0;
}

int node_view_parse(const json_t *object, struct node_view *ret)
{
	return parse_node(object, ret);
}

int guard_view_parse(const json_t *object, struct guard_view *ret)
{
	return parse_guard(object, ret);
}

/* Views of @size bytes each, by @parse_one. */
static int parse_array(const json_t *array, size_t size, int (*parse_one)(const json_t *, void *),
		       void **ret, size_t *ret_n)
{
	size_t n = json_array_size(array);
	cleanup(freep) char *views = calloc(n + 1, size);

	if (!json_is_array(array))
		return -EBADMSG;
	if (!views)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (parse_one(json_array_get(array, i), views + i * size) < 0)
			return -EBADMSG;
	*ret = take(views);
	*ret_n = n;
	return 0;
}

int node_view_parse_array(const json_t *parameters, const char *name, struct node_view **ret,
			  size_t *ret_n)
{
	void *views;
	int r = parse_array(json_object_get(parameters, name), sizeof(**ret), parse_node, &views,
			    ret_n);

	if (r == 0)
		*ret = views;
	return r;
}

int node_rows_init(struct node_rows *ret, const json_t *parameters, const char *name)
{
	const json_t *object = json_object_get(parameters, name);

	ret->row = (struct node_view){ .service = no_service };
	if (!json_is_object(object) || columns_reader_init(&ret->reader, object, column_fields,
							   ARRAY_SIZE(column_fields)))
		return -EBADMSG;
	return 0;
}

int node_rows_next(struct node_rows *rows, const struct node_view **ret)
{
	struct node_view *row = &rows->row;

	*ret = NULL;
	if (rows->reader.read == rows->reader.rows)
		return 0;
	if (columns_reader_next(&rows->reader, row))
		return -EBADMSG;
	row->is_service = row->service.state;
	row->service.since_usec = row->since_usec;
	row->service.ready = row->ready;
	*ret = row;
	return 0;
}

int node_view_parse_columns(const json_t *parameters, const char *name, struct node_view **ret,
			    size_t *ret_n)
{
	cleanup(freep) struct node_view *views = NULL;
	const struct node_view *row;
	struct node_rows rows;
	size_t n = 0;
	int r;

	r = node_rows_init(&rows, parameters, name);
	if (r < 0)
		return r;
	views = calloc(rows.reader.rows + 1, sizeof(*views));
	if (!views)
		return -ENOMEM;
	while ((r = node_rows_next(&rows, &row)) == 0 && row)
		views[n++] = *row;
	if (r < 0)
		return r;
	*ret = take(views);
	*ret_n = n;
	return 0;
}

int guard_view_parse_array(const json_t *parameters, const char *name, struct guard_view **ret,
			   size_t *ret_n)
{
	void *views;
	int r = parse_array(json_object_get(parameters, name), sizeof(**ret), parse_guard, &views,
			    ret_n);

	if (r == 0)
		*ret = views;
	return r;
}

int plan_entry_view_parse_array(const json_t *parameters, const char *name,
				struct plan_entry_view **ret, size_t *ret_n)
{
	void *views;
	int r = parse_array(json_object_get(parameters, name), sizeof(**ret), parse_plan_entry,
			    &views, ret_n);

	if (r == 0)
		*ret = views;
	return r;
}
