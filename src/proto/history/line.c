/*
 * A line is written and read by the same tables of fields.  Phases that did not happen are 0 in
 * the struct, and are left out of the line.
 */
#include "proto/history/line.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

DEFINE_FIELD_TABLE(history_phases, MAY(INT, delay_usec), MAY(INT, waiting_usec),
		   MAY(INT, draining_usec), MAY(INT, stopping_usec), MAY(INT, killing_usec),
		   MAY(INT, closing_usec))

DEFINE_FIELD_TABLE(history_holder, MUST(STRING, kind), MAY(STRING, who), MAY(STRING, why),
		   MUST(INT, usec))

DEFINE_FIELD_TABLE(history_line, MUST(INT, time_usec), MUST(STRING, node), MUST(INT, generation),
		   MUST(STRING, why), MUST(INT, total_usec),
		   MAY(STRUCT, phases, .table = &history_phases_table,
		       .present = offsetof(struct history_line, has_phases)),
		   MAY(BOOL, forced))

/* Parts that did not happen are left out. */
static void history_phases_replace(struct history_phases *phases, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < history_phases_table.n; i++) {
		uint64_t *usec =
			(uint64_t *)(void *)((char *)phases + history_phases_fields[i].offset);

		*usec = *usec == from ? to : *usec;
	}
}

static json_t *history_build_head(struct history_line line)
{
	history_phases_replace(&line.phases, 0, FIELD_NONE);
	return field_write(&history_line_table, &line);
}

json_t *history_line_build(const struct history_line *line)
{
	cleanup(json_decrefp) json_t *object = history_build_head(*line);
	json_t *held_by;

	if (line->n_held_by == 0)
		return take(object);
	held_by = json_array();
	for (size_t i = 0; i < line->n_held_by; i++)
		(void)json_array_append_new(held_by,
					    field_write(&history_holder_table, &line->held_by[i]));
	if (json_array_size(held_by) != line->n_held_by ||
	    json_object_set(object, "held_by", held_by) < 0)
		object = (json_decref(object), NULL);
	json_decref(held_by);
	return take(object);
}

static int history_parse_holders(const json_t *holders, struct history_line *line)
{
	if (holders && !json_is_array(holders))
		return -EBADMSG;
	line->n_held_by = MIN(json_array_size(holders), (size_t)HISTORY_HOLDERS);
	for (size_t i = 0; i < line->n_held_by; i++)
		if (field_read(json_array_get(holders, i), &history_holder_table,
			       &line->held_by[i]) < 0)
			return -EBADMSG;
	return 0;
}

int history_line_parse(const json_t *object, struct history_line *ret)
{
	struct history_line line = { .time_usec = 0 };
	int r = field_read(object, &history_line_table, &line);

	history_phases_replace(&line.phases, FIELD_NONE, 0);
	if (r == 0)
		r = history_parse_holders(json_object_get(object, "held_by"), &line);
	if (r == 0)
		*ret = line;
	return r;
}

static bool history_is_none(const char *path)
{
	return !path || strcmp(path, "none") == 0;
}

int history_path(char **ret, const char *history, const char *report)
{
	const char *slash = history_is_none(report) ? NULL : strrchr(report, '/');

	*ret = NULL;
	if (history)
		return history_is_none(history) || (*ret = strdup(history)) ? 0 : -ENOMEM;
	if (slash && asprintf(ret, "%.*s/" HISTORY_NAME, (int)(slash - report), report) < 0) {
		*ret = NULL;
		return -ENOMEM;
	}
	return 0;
}
