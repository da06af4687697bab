/*
 * A plan has an entry for each row of the forecast.  A time that is not bounded is left out, as
 * JSON has no infinity.
 */
#include "proto/plan.h"

#include "base/clock.h"
#include "proto/message.h"
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

static const char *plan_budget_path(const struct forecast_times *times)
{
	return times->budget ? times->budget->path : NULL;
}

static json_t *plan_build_entry(const struct forecast_row *row)
{
	const struct forecast_times *idle = &row->times[FORECAST_IDLE];
	const struct forecast_times *busy = &row->times[FORECAST_BUSY];
	cleanup(json_decrefp) json_t *waits = plan_build_waits(row);

	if (!waits)
		return NULL;
	return plan_entry_view_build(&(struct plan_entry_view){
		.node = row->node->path,
		.kind = forecast_kind_name(row->kind),
		.step = row->step,
		.waits = waits,
		.more_waits = row->n_more ? row->n_more : FIELD_NONE,
		.critical = row->critical,
		.soonest_usec = row->times[FORECAST_SOONEST].begin_usec,
		.begin_usec = idle->begin_usec,
		.end_usec = idle->end_usec,
		.budget = plan_budget_path(idle),
		.busy_begin_usec = busy->begin_usec,
		.busy_end_usec = busy->end_usec,
		.busy_budget = plan_budget_path(busy),
	});
}

static int plan_set_bounded(json_t *plan, const char *name, uint64_t usec)
{
	if (usec == USEC_INFINITY)
		return 0;
	return json_object_set_new(plan, name, json_integer((json_int_t)usec));
}

json_t *plan_build(const struct forecast *f, uint64_t grace_usec)
{
	cleanup(json_decrefp) json_t *plan = json_pack("{s:[]}", "entries");
	json_t *entries = json_object_get(plan, "entries");

	for (size_t i = 0; i < f->n_rows; i++)
		if (json_array_append_new(entries, plan_build_entry(&f->rows[i])) < 0)
			return NULL;
	if (plan_set_bounded(plan, "idle_usec", f->end_usec[FORECAST_IDLE]) < 0 ||
	    plan_set_bounded(plan, "busy_usec", f->end_usec[FORECAST_BUSY]) < 0 ||
	    plan_set_bounded(plan, "grace_usec", grace_usec) < 0)
		return NULL;
	return take(plan);
}
