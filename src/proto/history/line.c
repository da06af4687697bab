/*
 * A line is written and read by the same tables of fields.  Phases that did not happen are 0 in
 * the struct, and are left out of the line.
 */
#include "proto/history/line.h"

DEFINE_FIELD_TABLE(history_phases, MAY(INT, delay_usec), MAY(INT, waiting_usec),
		   MAY(INT, draining_usec), MAY(INT, stopping_usec), MAY(INT, killing_usec),
		   MAY(INT, closing_usec))

DEFINE_FIELD_TABLE(history_holder, MUST(STRING, kind), MAY(STRING, who), MAY(STRING, why),
		   MUST(INT, usec))

#define OUTAGES "none", "over", "planned", "dependency", "failure", "unknown", "removed"
const char *const history_outages[] = { OUTAGES, NULL };
_Static_assert(ARRAY_SIZE(history_outages) == N_OUTAGES + 1, "each has a name");

const char *const alert_names[] = { "given-up",	 "unhealthy", "recovered", "forced",
				    "slow-stop", "outdated",  NULL };
_Static_assert(ARRAY_SIZE(alert_names) == N_ALERTS + 1, "each has a name");

DEFINE_FIELD_TABLE(history_line, MUST(INT, time_usec), MUST(STRING, node), MUST(INT, generation),
		   MAY(CHOICE, outage, FIELD_VALUES(OUTAGES)), MAY(STRING, why),
		   MAY(INT, total_usec),
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

json_t *history_line_build(const struct history_line *line)
{
	struct history_line head = *line;
	cleanup(json_decrefp) json_t *object = NULL, *held_by = json_array();

	history_phases_replace(&head.phases, 0, FIELD_NONE);
	object = field_write(&history_line_table, &head);
	for (size_t i = 0; i < line->n_held_by; i++)
		if (json_array_append_new(
			    held_by, field_write(&history_holder_table, &line->held_by[i])) < 0)
			return NULL;
	if (line->n_held_by > 0 && json_object_set(object, "held_by", held_by) < 0)
		return NULL;
	return take(object);
}

int history_line_parse(const json_t *object, struct history_line *ret)
{
	const json_t *holders = json_object_get(object, "held_by");
	struct history_line line = { .n_held_by = MIN(json_array_size(holders),
						      (size_t)HISTORY_HOLDERS) };
	int r = holders && !json_is_array(holders) ? -EBADMSG
						   : field_read(object, &history_line_table, &line);

	history_phases_replace(&line.phases, FIELD_NONE, 0);
	if (r == 0 && !line.outage && (!line.why || line.total_usec == FIELD_NONE))
		r = -EBADMSG;
	for (size_t i = 0; r == 0 && i < line.n_held_by; i++)
		r = field_read(json_array_get(holders, i), &history_holder_table, &line.held_by[i]);
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
	if (slash)
		*ret = text_format("%.*s/" HISTORY_NAME, (int)(slash - report), report);
	return !slash || *ret ? 0 : -ENOMEM;
}
