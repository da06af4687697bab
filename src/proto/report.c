/*
 * A report is written and read by the same tables of fields, one for each struct.  An array of
 * nodes has one lane for each node: its states and guards in the order in which they came.
 */
#include "proto/report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

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
	FIELD(report_guard, FIELD_INT, id),	  FIELD(report_guard, FIELD_STRING, kind),
	OPT(report_guard, FIELD_INT, pid),	  OPT(report_guard, FIELD_INT, uid),
	OPT(report_guard, FIELD_STRING, command), OPT(report_guard, FIELD_STRING, why),
	OPT(report_guard, FIELD_INT, count),	  FIELD(report_guard, FIELD_SIGNED, taken_usec),
	OPT(report_guard, FIELD_INT, gone_usec),  OPT(report_guard, FIELD_STRING, end),
};

/* @type##_build() by the table of its fields. */
#define DEFINE_BUILD(type, fields)                                                \
	static const struct field_table type##_table = FIELD_TABLE(type, fields); \
                                                                                  \
	json_t *type##_build(const struct type *from)                             \
	{                                                                         \
		return field_write(&type##_table, from);                          \
	}

DEFINE_BUILD(report_view, view_fields)
DEFINE_BUILD(report_node, node_fields)
DEFINE_BUILD(report_state, state_fields)
DEFINE_BUILD(report_guard, guard_fields)

static int report_parse_lane(const json_t *object, struct report_lane *lane)
{
	int r = field_read(object, &report_node_table, &lane->node);

	if (r == 0)
		r = field_read_array(object, "states", &report_state_table, &lane->states,
				     &lane->n_states);
	if (r == 0)
		r = field_read_array(object, "guards", &report_guard_table, &lane->guards,
				     &lane->n_guards);
	return r;
}

static int report_parse_lanes(const json_t *nodes, struct report *report)
{
	size_t n = json_array_size(nodes);
	int r = 0;

	if (!json_is_array(nodes))
		return -EBADMSG;
	report->lanes = calloc(n + 1, sizeof(*report->lanes));
	if (!report->lanes)
		return -ENOMEM;
	for (report->n = 0; r == 0 && report->n < n; report->n++)
		r = report_parse_lane(json_array_get(nodes, report->n), &report->lanes[report->n]);
	return r;
}

int report_parse(const json_t *root, struct report *ret)
{
	struct report report = {};
	const json_t *format = json_object_get(root, "format");
	int r;

	if (json_is_integer(format) && json_integer_value(format) != REPORT_FORMAT)
		return -EPROTONOSUPPORT;
	r = field_read(root, &report_view_table, &report.view);
	if (r == 0)
		r = report_parse_lanes(json_object_get(root, "nodes"), &report);
	if (r < 0)
		report_done(&report);
	else
		*ret = report;
	return r;
}

static int report_open_file(const char *path, uint64_t size_max)
{
	cleanup(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	return (uint64_t)st.st_size > size_max ? -EFBIG : take_fd(fd);
}

int report_load(const char *path, uint64_t size_max, json_t **root, struct report *ret)
{
	cleanup(closep) int fd = report_open_file(path, size_max);
	json_t *object;
	int r;

	if (fd < 0)
		return fd;
	object = json_loadfd(fd, JSON_REJECT_DUPLICATES, NULL);
	r = object ? report_parse(object, ret) : -EBADMSG;
	if (r < 0)
		json_decref(object);
	else
		*root = object;
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

enum report_part report_part(const char *state)
{
	static const struct {
		const char *state;
		enum report_part part;
	} parts[] = {
		{ "draining", REPORT_DRAINING }, { "waiting", REPORT_WAITING },
		{ "asking", REPORT_STOPPING },	 { "stopping", REPORT_STOPPING },
		{ "cleaning", REPORT_STOPPING }, { "killing", REPORT_KILLING },
		{ "closing", REPORT_CLOSING },	 { "finishing", REPORT_CLOSING },
		{ "down", REPORT_OVER },	 { "done", REPORT_OVER },
		{ "failed", REPORT_OVER },	 { "backoff", REPORT_OVER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strcmp(state, parts[i].state) == 0)
			return parts[i].part;
	return REPORT_RUNNING;
}
