/*
 * A hold is a guard on one generation of a node; a stream has at most one for each.  It ends when
 * its stream is written (log_holds_release()), or by its alarm.
 */
#include "daemon/logger/hold.h"

static void hold_free(struct log_hold *hold)
{
	list_remove(&hold->in_stream);
	alarm_stop(&hold->ctx->alarms, &hold->limit);
	swansong_guard_drop(&hold->guard);
	context_update_soon(hold->ctx);
	free(hold);
}

static void hold_on_limit(struct alarm *alarm)
{
	struct log_hold *hold = container_of(alarm, struct log_hold, limit);

	hold->on_limit(hold->arg);
	hold_free(hold);
}

struct log_hold *log_hold_get(struct list *list, struct context *ctx,
			      const struct swansong_guard *guard, unsigned generation)
{
	struct log_hold *hold;

	list_for_each (hold, list, in_stream)
		if (hold->generation == generation)
			return hold;
	hold = calloc(1, sizeof(*hold));
	if (!hold)
		return NULL;
	hold->ctx = ctx;
	hold->guard = swansong_guard_clone(guard);
	hold->generation = generation;
	hold->id = ++ctx->last_id;
	hold->since_usec = clock_now_usec();
	alarm_init(&hold->limit, hold_on_limit);
	list_append(list, &hold->in_stream);
	return hold;
}

void log_holds_release(struct list *list)
{
	while (!list_is_empty(list))
		hold_free(list_entry(list->next, struct log_hold, in_stream));
}
