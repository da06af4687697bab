/*
 * Traces of nodes are in a list in order of creation; guards are found by their id.  A turn
 * touches the traces whose guards may have changed, and only these are looked at.  Memory for
 * guards is one array, which grows before the root is stopped and never after; with a history it is
 * used by stops of single nodes before, and does not move while it is.
 */
#include "daemon/loop/trace.h"

/* Places for guards: of each node, its process and one more; and those that all nodes share. */
#define PLACES_PER_NODE 2
#define PLACES_MORE	64

void traces_init(struct traces *traces)
{
	*traces = (struct traces){ .n = 0 };
	list_init(&traces->all);
	list_init(&traces->touched);
	list_init(&traces->ended);
	list_init(&traces->free);
}

void traces_done(struct traces *traces)
{
	traces->on = false;
	while (!list_is_empty(&traces->all)) {
		struct trace *trace = list_entry(traces->all.next, struct trace, in_traces);

		list_remove(&trace->in_ended);
		trace_free(trace);
	}
	traces->places = free_memory(traces->places);
}

/* Must not be called while places are in use. */
static void traces_reserve(struct traces *traces)
{
	size_t need = PLACES_MORE + PLACES_PER_NODE * traces->n + traces->n_leases;
	struct trace_guard *places;

	if (!traces->wanted || traces->on || traces->n_used > traces->n_free ||
	    need <= traces->n_places)
		return;
	need += need / 2;
	places = reallocarray(traces->places, need, sizeof(*places));
	if (!places)
		return;
	traces->places = places;
	traces->n_places = need;
	traces->n_used = traces->n_free = 0;
	list_init(&traces->free);
}

void traces_want(struct traces *traces, bool wanted, bool ends)
{
	traces->wanted = wanted;
	traces->ends_wanted = ends;
	traces_reserve(traces);
}

void traces_expect(struct traces *traces, int more)
{
	traces->n_leases += (size_t)more;
	traces_reserve(traces);
}

void traces_begin(struct traces *traces, const char *cause, uint64_t now)
{
	if (traces->on)
		return;
	traces->on = true;
	traces->stop_usec = now;
	traces->realtime_usec = clock_realtime_usec();
	traces->lost = 0; /* of stops before */
	(void)snprintf(traces->cause, sizeof(traces->cause), "%s", cause);
}

int trace_new(struct trace **ret, struct traces *traces, struct node *node, const char *path)
{
	size_t length = strlen(path) + 1;
	struct trace *trace;

	*ret = NULL;
	if (!traces->wanted)
		return 0;
	trace = calloc(1, sizeof(*trace) + length);
	if (!trace)
		return -ENOMEM;
	memcpy(trace->path, path, length);
	trace->traces = traces;
	trace->node = node;
	trace->budget_usec = USEC_INFINITY;
	list_init(&trace->in_touched);
	list_init(&trace->in_traces);
	list_init(&trace->in_ended);
	list_init(&trace->guards);
	trace->found = &trace->guards;
	list_append(&traces->all, &trace->in_traces);
	traces->n++;
	traces_reserve(traces);
	*ret = trace;
	return 0;
}

/* The guards of an end that is recorded. */
static void trace_release_places(struct trace *trace)
{
	struct list *place;

	while ((place = list_take(&trace->guards))) {
		list_append(&trace->traces->free, place);
		trace->traces->n_free++;
	}
	trace->found = &trace->guards;
	trace->last_id = trace->next_last_id = 0;
}

struct trace *trace_free(struct trace *trace)
{
	if (!trace)
		return NULL;
	list_remove(&trace->in_touched);
	trace->node = NULL;
	if (trace->traces->on || !list_is_empty(&trace->in_ended)) {
		trace_begin_scan(trace);
		trace_end_scan(trace, clock_now_usec());
		return NULL;
	}
	trace_release_places(trace);
	trace->traces->n--;
	list_remove(&trace->in_traces);
	return free_memory(trace);
}

void trace_end(struct trace *trace)
{
	if (trace->traces->on)
		return;
	trace_release_places(trace);
	if (!trace->node)
		trace_free(trace);
}

void trace_begin(struct trace *trace, unsigned generation, const char *state, uint64_t now)
{
	if (!trace)
		return;
	trace->generation = generation;
	trace->stop_usec = now;
	trace->complete_usec = trace->late_usec = 0;
	trace->n_states = 0;
	trace->early = false;
	*trace->why = '\0';
	list_remove(&trace->in_ended);
	if (!trace->traces->on)
		trace_release_places(trace);
	trace->is_service = state;
	if (state)
		trace_state(trace, state, now);
}

void trace_explain(struct trace *trace, const char *why)
{
	if (trace)
		(void)snprintf(trace->why, sizeof(trace->why), "%s", why);
}

void trace_complete(struct trace *trace, bool forced, uint64_t late_usec, uint64_t budget_usec,
		    uint64_t now)
{
	if (!trace)
		return;
	trace_touch(trace);
	trace->forced = forced;
	trace->late_usec = late_usec;
	trace->budget_usec = budget_usec;
	trace->complete_usec = now;
	if (trace->traces->ends_wanted)
		list_append(&trace->traces->ended, &trace->in_ended);
}

void trace_state(struct trace *trace, const char *state, uint64_t now)
{
	if (!trace_is_ending(trace))
		return;
	trace_touch(trace);
	if (trace->n_states == TRACE_STATES_MAX) {
		trace->traces->lost++;
		return;
	}
	trace->states[trace->n_states].state = state;
	trace->states[trace->n_states++].usec = now;
}

void trace_touch(struct trace *trace)
{
	bool ends = trace &&
		    (trace->traces->on || (trace->traces->ends_wanted && trace_is_ending(trace)));

	if (ends && list_is_empty(&trace->in_touched))
		list_append(&trace->traces->touched, &trace->in_touched);
}

void trace_begin_scan(struct trace *trace)
{
	struct trace_guard *g;

	trace->found = &trace->guards;
	list_for_each (g, &trace->guards, of_trace)
		g->seen = false;
}

/* Lookups come in the order of the list: the search begins after the last result. */
static struct trace_guard *trace_find_guard(struct trace *trace, uint64_t id)
{
	struct list *at = trace->found;

	do {
		at = at->next;
		if (at != &trace->guards &&
		    list_entry(at, struct trace_guard, of_trace)->id == id) {
			trace->found = at;
			return list_entry(at, struct trace_guard, of_trace);
		}
	} while (at != trace->found);
	return NULL;
}

static struct trace_guard *trace_take_place(struct trace *trace)
{
	struct traces *traces = trace->traces;
	struct trace_guard *g;

	if (!list_is_empty(&traces->free)) {
		g = list_entry(traces->free.next, struct trace_guard, of_trace);
		list_remove(&g->of_trace);
		traces->n_free--;
	} else if (traces->n_used < traces->n_places) {
		g = &traces->places[traces->n_used++];
	} else {
		traces->lost++;
		return NULL;
	}
	*g = (struct trace_guard){ .id = 0 };
	list_init(&g->of_trace);
	list_append(&trace->guards, &g->of_trace);
	return g;
}

static void trace_add_guard(struct trace *trace, const struct guard_view *guard, uint64_t now)
{
	const char *command = guard->command ? guard->command : "";
	struct trace_guard *g = trace_take_place(trace);
	size_t used;

	if (!g)
		return;
	g->id = guard->id;
	g->kind = guard->kind;
	g->pid = guard->pid;
	g->uid = guard->uid;
	g->count = guard->count;
	g->since_usec = now - guard->age_usec;
	g->seen = true;
	/* The command has half of the room: the reason is more important than its end. */
	(void)snprintf(g->text, sizeof(g->text) / 2, "%s", command);
	used = strlen(g->text) + 1;
	g->why = (unsigned char)used;
	(void)snprintf(g->text + used, sizeof(g->text) - used, "%s", guard->why ? guard->why : "");
}

void trace_scan_guard(struct trace *trace, const struct guard_view *guard, uint64_t now)
{
	struct trace_guard *g = trace_find_guard(trace, guard->id);

	if (guard->id > trace->next_last_id)
		trace->next_last_id = guard->id;
	if (!g) {
		/* An older guard without a place was counted when it was first seen. */
		if (guard->id > trace->last_id)
			trace_add_guard(trace, guard, now);
		return;
	}
	g->kind = guard->kind; /* a remaining process takes over the guard of its main process */
	g->gone_usec = 0;
	g->seen = true;
	if (guard->count != FIELD_NONE && guard->count > g->count)
		g->count = guard->count;
}

void trace_end_scan(struct trace *trace, uint64_t now)
{
	struct trace_guard *g;

	list_for_each (g, &trace->guards, of_trace)
		if (!g->seen && !g->gone_usec)
			g->gone_usec = now;
	trace->last_id = trace->next_last_id;
}

void trace_guard_end(struct trace *trace, uint64_t id, const char *end)
{
	struct trace_guard *g = trace ? trace_find_guard(trace, id) : NULL;

	if (g)
		g->end = end;
}
