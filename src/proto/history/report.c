/*
 * A report is written and read by the same tables of fields, one for each struct.  An array of
 * nodes has one lane for each node: its states and guards in the order in which they came.
 */
#include "proto/history/report.h"

DEFINE_FIELD_TABLE(report_view, MUST(INT, format), MUST(STRING, version), MUST(STRING, host),
		   MUST(INT, pid), MUST(INT, time_usec), MUST(STRING, cause), MAY(STRING, signal),
		   MUST(BOOL, forced), MUST(INT, status), MUST(INT, total_usec),
		   MAY(INT, budget_usec), MUST(INT, lost))

DEFINE_FIELD_TABLE(report_node, MUST(STRING, path), MUST_AS("service", BOOL, is_service),
		   MUST(INT, generation), MUST(SIGNED, stop_usec), MAY(INT, complete_usec),
		   MUST(BOOL, forced), MAY(BOOL, early), MAY(INT, late_usec), MAY(INT, budget_usec),
		   MUST(STRINGS, after))

DEFINE_FIELD_TABLE(report_state, MUST(STRING, state), MUST(SIGNED, at_usec))

DEFINE_FIELD_TABLE(report_guard, MUST(INT, id), MUST(STRING, kind), MAY(INT, pid), MAY(INT, uid),
		   MAY(STRING, command), MAY(STRING, why), MAY(INT, count),
		   MUST(SIGNED, taken_usec), MAY(INT, gone_usec), MAY(STRING, end))

DEFINE_FIELD_BUILD(report_view)
DEFINE_FIELD_BUILD(report_node)
DEFINE_FIELD_BUILD(report_state)
DEFINE_FIELD_BUILD(report_guard)

static int report_parse_lanes(const json_t *nodes, struct report *report)
{
	size_t n = json_array_size(nodes);
	int r = 0;

	if (!json_is_array(nodes))
		return -EBADMSG;
	report->lanes = calloc(n + 1, sizeof(*report->lanes));
	if (!report->lanes)
		return -ENOMEM;
	for (report->n = 0; r == 0 && report->n < n; report->n++) {
		const json_t *object = json_array_get(nodes, report->n);
		struct report_lane *lane = &report->lanes[report->n];

		r = field_read(object, &report_node_table, &lane->node);
		if (r == 0)
			r = field_read_array(object, "states", &report_state_table, &lane->states,
					     &lane->n_states);
		if (r == 0)
			r = field_read_array(object, "guards", &report_guard_table, &lane->guards,
					     &lane->n_guards);
	}
	return r;
}

static int report_parse(const json_t *root, struct report *ret)
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

int report_load(const char *path, uint64_t size_max, json_t **root, struct report *ret)
{
	cleanup(closep) int fd = fd_open_regular(AT_FDCWD, path, &size_max);
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
