/*
 * A report is read once, and its facts are computed from the times in it.  The chain of a shutdown
 * is found backwards: from the node that was complete last to the last of the nodes that it waited
 * for, and so on.
 */
#include "ctl/report/past.h"

#define FILE_SIZE_MAX (64 * 1024 * 1024)
#define TURN_USEC     (10 * USEC_PER_MSEC)
#define PATH_DEFAULT  STATEDIR "/swansong/report.json"

/* --- the file --- */

static const char *past_reason_of(int r)
{
	switch (r) {
	case -ENOENT:
		return "no report: set report in [swansong], or name the file by --report FILE";
	case -ENOTSUP:
		return "not a regular file";
	case -EBADMSG:
		return "not a report of a shutdown";
	case -EPROTONOSUPPORT:
		return "a report in an unknown format: expected one of this version";
	}
	return strerror(-r);
}

static void past_done(struct past *past)
{
	report_done(&past->report);
	json_decref(past->root);
}

int past_run(struct ctl *ctl, int argc, char **argv,
	     int (*show)(struct ctl *ctl, const struct past *past, int argc, char **argv))
{
	cleanup(past_done) struct past past = {
		.path = ctl->options.report ? ctl->options.report : PATH_DEFAULT
	};
	int r = report_load(past.path, FILE_SIZE_MAX, &past.root, &past.report);

	if (r < 0)
		return ctl_refuse(ctl, CTL_FAILED, "%s: %s", past.path, past_reason_of(r));
	if (ctl->options.json)
		return ctl_print_json(ctl, past.root);
	return ctl->options.quiet ? CTL_DONE : show(ctl, &past, argc, argv);
}

/* --- its facts --- */

char *past_when(char buf[static PAST_WHEN_MAX], const struct report_view *view)
{
	time_t seconds = (time_t)(view->time_usec / USEC_PER_SEC);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) ||
	    strftime(buf, PAST_WHEN_MAX, "%Y-%m-%d %H:%M:%S %z", &tm) == 0)
		(void)strcpy(buf, "?");
	return buf;
}

uint64_t past_end(const struct report *report, const struct report_lane *lane)
{
	uint64_t usec = lane->node.complete_usec;

	return usec == FIELD_NONE ? report->view.total_usec : usec;
}

/* The numbers of a file may be wrong: a distance never wraps. */
static uint64_t past_usec_between(int64_t from, int64_t to)
{
	return to > from ? (uint64_t)to - (uint64_t)from : 0;
}

static int64_t past_state_end(const struct report *report, const struct report_lane *lane, size_t i)
{
	return i + 1 < lane->n_states ? lane->states[i + 1].at_usec
				      : (int64_t)past_end(report, lane);
}

uint64_t past_state_usec(const struct report *report, const struct report_lane *lane, size_t i)
{
	return past_usec_between(lane->states[i].at_usec, past_state_end(report, lane, i));
}

uint64_t past_total(const struct report *report, const struct report_lane *lane)
{
	return past_usec_between(lane->node.stop_usec, (int64_t)past_end(report, lane));
}

uint64_t past_spent(const struct report *report, const struct report_lane *lane,
		    enum report_part part)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < lane->n_states; i++)
		if (report_part(lane->states[i].state) == part)
			sum = clock_add(sum, past_state_usec(report, lane, i));
	return sum;
}

bool past_has_held(const struct report_lane *lane)
{
	return lane->node.is_service || lane->n_guards > 0;
}

struct guard_view past_guard(const struct report *report, const struct report_lane *lane,
			     const struct report_guard *guard)
{
	uint64_t gone = guard->gone_usec == FIELD_NONE ? report->view.total_usec : guard->gone_usec;

	return (struct guard_view){
		.id = guard->id,
		.node = lane->node.path,
		.generation = lane->node.generation,
		.kind = guard->kind,
		.pid = guard->pid,
		.uid = guard->uid,
		.command = guard->command,
		.why = guard->why,
		.age_usec = past_usec_between(guard->taken_usec, (int64_t)gone),
		.kill_usec = FIELD_NONE,
		.count = guard->count,
		.ttl_usec = FIELD_NONE,
	};
}

/* --- the chain --- */

/* The last node to end in the subtree of @top, not after @until. */
static const struct report_lane *past_find_last(const struct report *report, const char *top,
						uint64_t until)
{
	const struct report_lane *last = NULL;

	for (size_t i = 0; i < report->n; i++) {
		const struct report_lane *lane = &report->lanes[i];
		uint64_t end = past_end(report, lane);

		if (past_has_held(lane) && end <= until && text_is_within(lane->node.path, top) &&
		    (!last || end >= past_end(report, last)))
			last = lane;
	}
	return last;
}

/* The latest time at which the nodes that @lane waited for were Complete; 0: it waited for none. */
static uint64_t past_gate_end(const struct report *report, const struct report_lane *lane)
{
	int64_t end = 0;

	for (size_t i = 0; i < lane->n_states; i++)
		if (report_part(lane->states[i].state) == REPORT_WAITING)
			end = past_state_end(report, lane, i);
	/* The end of the other nodes may be recorded a little later than the end of this wait, in the same turn. */
	return end > 0 ? clock_add((uint64_t)end, TURN_USEC) : 0;
}

/* The last node that @lane waited for, by its "after" or that of an ancestor. */
static const struct report_lane *past_find_before(const struct report *report,
						  const struct report_lane *lane)
{
	uint64_t until = past_gate_end(report, lane);
	const struct report_lane *last = NULL;

	for (size_t i = 0; until > 0 && i < report->n; i++) {
		const struct report_node *around = &report->lanes[i].node;

		if (!text_is_within(lane->node.path, around->path))
			continue;
		for (size_t k = 0; k < json_array_size(around->after); k++) {
			const char *top = json_string_value(json_array_get(around->after, k));
			const struct report_lane *before = past_find_last(report, top, until);

			if (before && (!last || past_end(report, before) > past_end(report, last)))
				last = before;
		}
	}
	return last;
}

size_t past_chain(const struct past *past, const struct report_lane **ret, size_t max)
{
	const struct report *report = &past->report;
	const struct report_lane *lane = past_find_last(report, "", UINT64_MAX);
	size_t n = 0;

	while (lane && n < max) {
		const struct report_lane *before = past_find_before(report, lane);

		ret[n++] = lane;
		/* Each node ends before the one that waited for it, or the file is wrong. */
		if (before && past_end(report, before) >= past_end(report, lane))
			break;
		lane = before;
	}
	return n;
}
