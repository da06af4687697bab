/*
 * The last shutdown as a table: the time of each node, without that in which it waited for others;
 * and the chain that the end waited for.
 *
 * A report is read once, and its facts are computed from the times in it.  The chain of a shutdown
 * is found backwards: from the node that was complete last to the last of the nodes that it waited
 * for, and so on.
 */
#include "ctl/commands/cmd.h"

#include "ctl/history/source.h"

#define FILE_SIZE_MAX (64 * 1024 * 1024)
#define TURN_USEC     (10 * USEC_PER_MSEC)
#define CHAIN_MAX     32
#define WHEN_MAX      40
#define PATH_DEFAULT  STATEDIR "/swansong/report.json"

/* --- the file --- */

static const char *blame_reason_of(int r)
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

static void blame_done(struct past *past)
{
	report_done(&past->report);
	json_decref(past->root);
}

int blame_run(struct ctl *ctl, int argc, char **argv,
	      int (*show)(struct ctl *ctl, const struct past *past, int argc, char **argv))
{
	cleanup(blame_done) struct past past = { .path = ctl->options.report ? ctl->options.report
									     : PATH_DEFAULT };
	int r = report_load(past.path, FILE_SIZE_MAX, &past.root, &past.report);

	if (r < 0)
		return ctl_refuse(ctl, CTL_FAILED, "%s: %s", past.path, blame_reason_of(r));
	if (ctl->options.json)
		return ctl_print_json(ctl, past.root);
	return ctl->options.quiet ? CTL_DONE : show(ctl, &past, argc, argv);
}

/* --- its facts --- */

/* The time of the stop: "2026-05-01 12:00:03 +0200".  Returns @buf. */
static char *blame_when(char buf[static WHEN_MAX], const struct report_view *view)
{
	time_t seconds = (time_t)(view->time_usec / USEC_PER_SEC);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) ||
	    strftime(buf, WHEN_MAX, "%Y-%m-%d %H:%M:%S %z", &tm) == 0)
		(void)strcpy(buf, "?");
	return buf;
}

/* The time when a node was Complete, or the report was written. */
static uint64_t blame_end(const struct report *report, const struct report_lane *lane)
{
	uint64_t usec = lane->node.complete_usec;

	return usec == FIELD_NONE ? report->view.total_usec : usec;
}

/* The numbers of a file may be wrong: a distance never wraps. */
static uint64_t blame_usec_between(int64_t from, int64_t to)
{
	return to > from ? (uint64_t)to - (uint64_t)from : 0;
}

static int64_t blame_state_end(const struct report *report, const struct report_lane *lane,
			       size_t i)
{
	return i + 1 < lane->n_states ? lane->states[i + 1].at_usec
				      : (int64_t)blame_end(report, lane);
}

static uint64_t blame_state_usec(const struct report *report, const struct report_lane *lane,
				 size_t i)
{
	return blame_usec_between(lane->states[i].at_usec, blame_state_end(report, lane, i));
}

static uint64_t blame_total(const struct report *report, const struct report_lane *lane)
{
	return blame_usec_between(lane->node.stop_usec, (int64_t)blame_end(report, lane));
}

/* The time a node took in @part. */
static uint64_t blame_spent(const struct report *report, const struct report_lane *lane,
			    enum report_part part)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < lane->n_states; i++)
		if (report_part(lane->states[i].state) == part)
			sum = clock_add(sum, blame_state_usec(report, lane, i));
	return sum;
}

/* Returns true if the node could hold up others: it is a service, or had guards. */
static bool blame_has_held(const struct report_lane *lane)
{
	return lane->node.is_service || lane->n_guards > 0;
}

static struct guard_view blame_guard_view(const struct report *report,
					  const struct report_lane *lane,
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
		.age_usec = blame_usec_between(guard->taken_usec, (int64_t)gone),
		.kill_usec = FIELD_NONE,
		.count = guard->count,
		.ttl_usec = FIELD_NONE,
	};
}

/* --- the chain --- */

/* The last node to end in the subtree of @top, not after @until. */
static const struct report_lane *blame_find_last(const struct report *report, const char *top,
						 uint64_t until)
{
	const struct report_lane *last = NULL;

	for (size_t i = 0; i < report->n; i++) {
		const struct report_lane *lane = &report->lanes[i];
		uint64_t end = blame_end(report, lane);

		if (blame_has_held(lane) && end <= until && text_is_within(lane->node.path, top) &&
		    (!last || end >= blame_end(report, last)))
			last = lane;
	}
	return last;
}

/* The latest time at which the nodes that @lane waited for were Complete; 0: it waited for none. */
static uint64_t blame_gate_end(const struct report *report, const struct report_lane *lane)
{
	int64_t end = 0;

	for (size_t i = 0; i < lane->n_states; i++)
		if (report_part(lane->states[i].state) == REPORT_WAITING)
			end = blame_state_end(report, lane, i);
	/* The end of the other nodes may be recorded a little later than the end of this wait, in the same turn. */
	return end > 0 ? clock_add((uint64_t)end, TURN_USEC) : 0;
}

/* The last node that @lane waited for, by its "after" or that of an ancestor. */
static const struct report_lane *blame_find_before(const struct report *report,
						   const struct report_lane *lane)
{
	uint64_t until = blame_gate_end(report, lane);
	const struct report_lane *last = NULL;

	for (size_t i = 0; until > 0 && i < report->n; i++) {
		const struct report_node *around = &report->lanes[i].node;

		if (!text_is_within(lane->node.path, around->path))
			continue;
		for (size_t k = 0; k < json_array_size(around->after); k++) {
			const char *top = json_string_value(json_array_get(around->after, k));
			const struct report_lane *before = blame_find_last(report, top, until);

			if (before &&
			    (!last || blame_end(report, before) > blame_end(report, last)))
				last = before;
		}
	}
	return last;
}

/*
 * Finds the lane that the root waited for last, then the one that this lane waited for last, and so on.
 * Return: their number, at most @max.
 */
static size_t blame_find_chain(const struct past *past, const struct report_lane **ret, size_t max)
{
	const struct report *report = &past->report;
	const struct report_lane *lane = blame_find_last(report, "", UINT64_MAX);
	size_t n = 0;

	while (lane && n < max) {
		const struct report_lane *before = blame_find_before(report, lane);

		ret[n++] = lane;
		/* Each node ends before the one that waited for it, or the file is wrong. */
		if (before && blame_end(report, before) >= blame_end(report, lane))
			break;
		lane = before;
	}
	return n;
}

/* --- the table --- */

struct row {
	uint64_t own_usec; /* the time of the node itself, without the time it waited for others */
	const struct report_lane *lane;
};

static int blame_compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->own_usec != y->own_usec)
		return x->own_usec < y->own_usec ? 1 : -1;
	return strcmp(x->lane->node.path, y->lane->node.path);
}

static void blame_add_span(struct table *t, enum style style, uint64_t usec)
{
	char text[CLOCK_TEXT_MAX];

	/* A wait that is over at once takes only the time of the check. */
	bool any = usec >= USEC_PER_MSEC / 10;

	table_add(t, any ? style : STYLE_FAINT, "%s", any ? clock_text_fine(text, usec) : "-");
}

/* A process needs no row: the columns show its times. */
static bool blame_is_shown_guard(const struct report_guard *guard)
{
	return strcmp(guard->kind, "process") != 0;
}

/* The words that are shown for some kinds and ends of the report. */
static const char *blame_display_text(const char *text)
{
	static const char *const texts[][2] = {
		{ "leftover", "remaining process" },
		{ "dropped", "released" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(text, texts[i][0]) == 0)
			return texts[i][1];
	return text;
}

/* "lease pg_dump, pid 9911, postgres, "nightly" for 3.2s, revoked" */
static void blame_write_note(char buf[static SHOW_NOTE_MAX], const struct report *report,
			     const struct report_lane *lane)
{
	struct words w = words_in(buf, SHOW_NOTE_MAX);

	for (size_t i = 0; i < lane->n_guards; i++) {
		const struct report_guard *g = &lane->guards[i];
		struct guard_view view = blame_guard_view(report, lane, g);
		char holder[SHOW_NOTE_MAX], age[CLOCK_TEXT_MAX];

		if (blame_is_shown_guard(g))
			words_add(&w, "; ", "%s %s for %s%s%s", blame_display_text(g->kind),
				  show_holder(holder, &view), clock_text_fine(age, view.age_usec),
				  g->end ? ", " : "", g->end ? blame_display_text(g->end) : "");
	}
}

static void blame_add_row(struct table *t, const struct report *report, const struct row *row)
{
	const struct report_lane *lane = row->lane;
	char text[SHOW_NOTE_MAX];

	blame_add_span(t, STYLE_BOLD, row->own_usec);
	table_add(t, STYLE_BOLD, "%s", node_name(lane->node.path));
	blame_add_span(t, STYLE_PLAIN, blame_total(report, lane));
	blame_add_span(t, STYLE_PLAIN, blame_spent(report, lane, REPORT_WAITING));
	blame_add_span(t, STYLE_PLAIN, blame_spent(report, lane, REPORT_DRAINING));
	blame_add_span(t, STYLE_PLAIN,
		       clock_add(blame_spent(report, lane, REPORT_STOPPING),
				 blame_spent(report, lane, REPORT_CLOSING)));
	blame_add_span(t, STYLE_BAD, blame_spent(report, lane, REPORT_KILLING));
	blame_write_note(text, report, lane);
	table_add(t, lane->node.late_usec != FIELD_NONE ? STYLE_BAD : STYLE_PLAIN, "%s", text);
}

/* The guard that was held longest, without the process; or NULL. */
static const struct report_guard *blame_last_guard(const struct report_lane *lane)
{
	const struct report_guard *last = NULL;

	for (size_t i = 0; i < lane->n_guards; i++)
		if (blame_is_shown_guard(&lane->guards[i]) &&
		    (!last || lane->guards[i].gone_usec >= last->gone_usec))
			last = &lane->guards[i];
	return last;
}

/* The states of the node in order: "waiting 1.2s, stopping 302ms". */
static void blame_write_states(char buf[static SHOW_NOTE_MAX], const struct report *report,
			       const struct report_lane *lane)
{
	const struct report_guard *last = blame_last_guard(lane);
	uint64_t end = blame_end(report, lane);
	char text[CLOCK_TEXT_MAX], holder[SHOW_NOTE_MAX];
	struct words w = words_in(buf, SHOW_NOTE_MAX);

	for (size_t i = 0; i < lane->n_states; i++) {
		uint64_t usec = blame_state_usec(report, lane, i);
		enum report_part part = report_part(lane->states[i].state);

		if (usec >= USEC_PER_MSEC && part != REPORT_RUNNING && part != REPORT_OVER)
			words_add(&w, ", ", "%s %s", lane->states[i].state,
				  clock_text_fine(text, usec));
	}
	/* A guard counts if it was held until almost the end: a program ends a moment after its last one. */
	if (last && clock_add(last->gone_usec, MAX(end / 10, USEC_PER_MSEC)) >= end) {
		struct guard_view view = blame_guard_view(report, lane, last);

		words_add(&w, ", ", "%s %s", blame_display_text(last->kind),
			  show_holder(holder, &view));
	}
}

static int blame_print_chain(struct ctl *ctl, const struct past *past)
{
	const struct report_lane *chain[CHAIN_MAX];
	size_t n = blame_find_chain(past, chain, CHAIN_MAX);
	cleanup(table_done) struct table t;

	table_init(&t, 3, NULL);
	if (n == 0)
		return CTL_DONE;
	ctl_print(ctl, "%s", "");
	ctl_print(ctl, "The end waited for:");
	for (size_t i = 0; i < n; i++) {
		char text[SHOW_NOTE_MAX], at[CLOCK_TEXT_MAX];

		table_add(&t, STYLE_BOLD, "  %*s%s", (int)(2 * i), "",
			  node_name(chain[i]->node.path));
		table_add(&t, STYLE_PLAIN, "+%s",
			  clock_text_fine(at, blame_end(&past->report, chain[i])));
		blame_write_states(text, &past->report, chain[i]);
		table_add(&t, STYLE_PLAIN, "%s", text);
	}
	return ctl_print_table(ctl, &t);
}

static int blame_print(struct ctl *ctl, const struct past *past, int argc, char **argv)
{
	const struct report *report = &past->report;
	cleanup(table_done) struct table t = {};
	cleanup(freep) struct row *rows = calloc(report->n + 1, sizeof(*rows));
	const struct report_view *v = &report->view;
	char took[CLOCK_TEXT_MAX], when[WHEN_MAX];
	size_t n = 0;
	int r;

	if (!rows)
		return ctl_fail(ctl, -ENOMEM);
	for (size_t i = 0; i < report->n; i++) {
		const struct report_lane *lane = &report->lanes[i];
		uint64_t total = blame_total(report, lane),
			 waiting = blame_spent(report, lane, REPORT_WAITING);

		if (blame_has_held(lane) && source_is_asked_for(lane->node.path, argc, argv))
			rows[n++] = (struct row){ total - MIN(total, waiting), lane };
	}
	if (n == 0 && argc > 0)
		return ctl_refuse(ctl, CTL_NO_NODE, "the report has no such node");
	qsort(rows, n, sizeof(*rows), blame_compare_rows);
	ctl_print(ctl, "root: complete in %s%s, exit status %" PRIu64,
		  clock_text_fine(took, v->total_usec), v->forced ? ", forced" : "", v->status);
	ctl_print(ctl, "stopped %s on %s: %s", blame_when(when, v), v->host, v->cause);
	if (v->lost)
		ctl_print(ctl, "%" PRIu64 " guards or states are missing in the report", v->lost);
	for (size_t i = 0; i < n; i++)
		if (rows[i].lane->node.early)
			ctl_print(ctl, "%s: killed early, for a higher stop-priority",
				  node_name(rows[i].lane->node.path));
	ctl_print(ctl, "%s", "");
	table_init_titles(&t, "TOOK", "NODE", "TOTAL", "WAITING", "DRAINING", "STOPPING", "KILLED",
			  "HELD BY");
	for (size_t i = 0; i < n; i++)
		blame_add_row(&t, report, &rows[i]);
	r = ctl_print_table(ctl, &t);
	return r == CTL_DONE && argc == 0 ? blame_print_chain(ctl, past) : r;
}

int cmd_blame(struct ctl *ctl, int argc, char **argv)
{
	return blame_run(ctl, argc, argv, blame_print);
}
