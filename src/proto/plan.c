/*
 * A plan has an entry for each row of the forecast.  A time that is not bounded is left out, as
 * JSON has no infinity.
 */
#include "proto/plan.h"

#include "proto/node-view.h"

/* Returns NULL if out of memory. */
static json_t *plan_build_waits(const struct forecast_row *row)
{
	cleanup(json_decrefp) json_t *waits = json_array();

	for (size_t i = 0; i < row->n_waits; i++)
		if (json_array_append_new(waits, message_string(row->waits[i]->path)) < 0)
			return NULL;
	return take(waits);
}

static json_t *plan_build_entry(const struct forecast_row *row)
{
	const struct forecast_times *idle = &row->times[FORECAST_IDLE];
	const struct forecast_times *busy = &row->times[FORECAST_BUSY];
	cleanup(json_decrefp) json_t *waits = plan_build_waits(row);

	if (!waits)
		return NULL;
	return plan_entry_view_build(&(struct plan_entry_view){
		.node = row->path,
		.kind = row->kind == FORECAST_FINAL ? "final" : "service",
		.step = row->step,
		.waits = waits,
		.more_waits = row->n_more ? row->n_more : FIELD_NONE,
		.critical = row->critical,
		.soonest_usec = row->times[FORECAST_SOONEST].begin_usec,
		.begin_usec = idle->begin_usec,
		.end_usec = idle->end_usec,
		.budget = idle->budget ? idle->budget->path : NULL,
		.busy_begin_usec = busy->begin_usec,
		.busy_end_usec = busy->end_usec,
		.busy_budget = busy->budget ? busy->budget->path : NULL,
		.early = idle->yields,
	});
}

json_t *plan_build(const struct forecast *f, uint64_t grace_usec)
{
	cleanup(json_decrefp) json_t *plan =
		json_pack("{s:[], s:o*, s:o*, s:o*}", "entries", "idle_usec",
			  message_number(f->end_usec[FORECAST_IDLE]), "busy_usec",
			  message_number(f->end_usec[FORECAST_BUSY]), "grace_usec",
			  message_number(grace_usec));
	json_t *entries = json_object_get(plan, "entries");

	for (size_t i = 0; i < f->n_rows; i++)
		if (json_array_append_new(entries, plan_build_entry(&f->rows[i])) < 0)
			return NULL;
	return take(plan);
}
