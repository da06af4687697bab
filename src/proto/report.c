#include "proto/report.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macro.h"

/* clang-format off */
#define OPT(of, kind, member) FIELD(of, kind, member, .optional = true)
#define NAMED(of, kind, text, member) \
	{ .name = text, .type = kind, .offset = offsetof(struct of, member) }

static const struct field view_fields[] = {
	FIELD(report_view, FIELD_INT, format),
	FIELD(report_view, FIELD_STRING, version),
	FIELD(report_view, FIELD_STRING, host),
	FIELD(report_view, FIELD_INT, pid),
	FIELD(report_view, FIELD_INT, time_usec),
	FIELD(report_view, FIELD_STRING, cause),
	OPT(report_view, FIELD_STRING, signal),
	FIELD(report_view, FIELD_BOOL, forced),
	FIELD(report_view, FIELD_INT, status),
	FIELD(report_view, FIELD_INT, total_usec),
	OPT(report_view, FIELD_INT, budget_usec),
	FIELD(report_view, FIELD_INT, lost),
};
/* clang-format on */

static const struct field node_fields[] = {
	FIELD(report_node, FIELD_STRING, path),
	NAMED(report_node, FIELD_BOOL, "service", is_service),
	FIELD(report_node, FIELD_INT, generation),
	FIELD(report_node, FIELD_SIGNED, stop_usec),
	OPT(report_node, FIELD_INT, complete_usec),
	FIELD(report_node, FIELD_BOOL, forced),
	OPT(report_node, FIELD_INT, late_usec),
	OPT(report_node, FIELD_INT, budget_usec),
	FIELD(report_node, FIELD_STRINGS, after),
};

static const struct field state_fields[] = {
	FIELD(report_state, FIELD_STRING, state),
	FIELD(report_state, FIELD_SIGNED, at_usec),
};

static const struct field guard_fields[] = {
	FIELD(report_guard, FIELD_INT, id),
	FIELD(report_guard, FIELD_STRING, kind),
	OPT(report_guard, FIELD_INT, pid),
	OPT(report_guard, FIELD_INT, uid),
	OPT(report_guard, FIELD_STRING, command),
	OPT(report_guard, FIELD_STRING, why),
	OPT(report_guard, FIELD_INT, count),
	FIELD(report_guard, FIELD_SIGNED, taken_usec),
	OPT(report_guard, FIELD_INT, gone_usec),
	OPT(report_guard, FIELD_STRING, end),
};

void report_append(struct writer *to, const struct report_view *report)
{
	field_append(to, view_fields, ARRAY_SIZE(view_fields), report);
}

void report_append_node(struct writer *to, const struct report_node *node)
{
	field_append(to, node_fields, ARRAY_SIZE(node_fields), node);
}

void report_append_state(struct writer *to, const struct report_state *state)
{
	field_append(to, state_fields, ARRAY_SIZE(state_fields), state);
}

void report_append_guard(struct writer *to, const struct report_guard *guard)
{
	field_append(to, guard_fields, ARRAY_SIZE(guard_fields), guard);
}

static int parse(const json_t *object, const struct field *fields, size_t n, void *to)
{
	return json_is_object(object) && !field_read(object, fields, n, to) ? 0 : -EBADMSG;
}

static int parse_state(const json_t *object, void *ret)
{
	return parse(object, state_fields, ARRAY_SIZE(state_fields), ret);
}

static int parse_guard(const json_t *object, void *ret)
{
	return parse(object, guard_fields, ARRAY_SIZE(guard_fields), ret);
}

/* Of @size bytes each, zeroed; by @parse_one. */
static int parse_array(const json_t *array, size_t size, int (*parse_one)(const json_t *, void *),
		       void **ret, size_t *ret_n)
{
	size_t n = json_array_size(array);
	char *items;
	int r = 0;

	if (!json_is_array(array))
		return -EBADMSG;
	items = calloc(n + 1, size);
	if (!items)
		return -ENOMEM;
	*ret = items; /* the caller's to free, also of a failure */
	*ret_n = n;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = parse_one(json_array_get(array, i), items + i * size);
	return r;
}

static int parse_lane(const json_t *object, void *ret)
{
	struct report_lane *lane = ret;
	int r = parse(object, node_fields, ARRAY_SIZE(node_fields), &lane->node);

	if (r == 0)
		r = parse_array(json_object_get(object, "states"), sizeof(*lane->states),
				parse_state, (void **)&lane->states, &lane->n_states);
	if (r == 0)
		r = parse_array(json_object_get(object, "guards"), sizeof(*lane->guards),
				parse_guard, (void **)&lane->guards, &lane->n_guards);
	return r;
}

int report_parse(const json_t *root, struct report *ret)
{
	struct report report = {};
	const json_t *format = json_object_get(root, "format");
	int r;

	if (json_is_integer(format) && json_integer_value(format) != REPORT_FORMAT)
		return -EPROTONOSUPPORT;
	r = parse(root, view_fields, ARRAY_SIZE(view_fields), &report.view);
	if (r == 0)
		r = parse_array(json_object_get(root, "nodes"), sizeof(*report.lanes), parse_lane,
				(void **)&report.lanes, &report.n);
	if (r < 0)
		report_done(&report);
	else
		*ret = report;
	return r;
}

void report_done(struct report *report)
{
	for (size_t i = 0; i < report->n; i++) {
		free(report->lanes[i].states);
		free(report->lanes[i].guards);
	}
	free(report->lanes);
	*report = (struct report){};
}
