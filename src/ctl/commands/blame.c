#include "ctl/commands/cmd.h"

#include "ctl/history/source.h"
#include "ctl/report/past.h"

/*
 * The last shutdown as a table: the time of each node, without that in which it waited for others;
 * and the chain that the end waited for.
 */

#define CHAIN_MAX 32

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
		struct guard_view view = past_guard(report, lane, g);
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
	blame_add_span(t, STYLE_PLAIN, past_total(report, lane));
	blame_add_span(t, STYLE_PLAIN, past_spent(report, lane, REPORT_WAITING));
	blame_add_span(t, STYLE_PLAIN, past_spent(report, lane, REPORT_DRAINING));
	blame_add_span(t, STYLE_PLAIN,
		       clock_add(past_spent(report, lane, REPORT_STOPPING),
				 past_spent(report, lane, REPORT_CLOSING)));
	blame_add_span(t, STYLE_BAD, past_spent(report, lane, REPORT_KILLING));
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
	uint64_t end = past_end(report, lane);
	char text[CLOCK_TEXT_MAX], holder[SHOW_NOTE_MAX];
	struct words w = words_in(buf, SHOW_NOTE_MAX);

	for (size_t i = 0; i < lane->n_states; i++) {
		uint64_t usec = past_state_usec(report, lane, i);
		enum report_part part = report_part(lane->states[i].state);

		if (usec >= USEC_PER_MSEC && part != REPORT_RUNNING && part != REPORT_OVER)
			words_add(&w, ", ", "%s %s", lane->states[i].state,
				  clock_text_fine(text, usec));
	}
	/* A guard counts if it was held until almost the end: a program ends a moment after its last one. */
	if (last && clock_add(last->gone_usec, MAX(end / 10, USEC_PER_MSEC)) >= end) {
		struct guard_view view = past_guard(report, lane, last);

		words_add(&w, ", ", "%s %s", blame_display_text(last->kind),
			  show_holder(holder, &view));
	}
}

static int blame_print_chain(struct ctl *ctl, const struct past *past)
{
	const struct report_lane *chain[CHAIN_MAX];
	size_t n = past_chain(past, chain, CHAIN_MAX);
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
			  clock_text_fine(at, past_end(&past->report, chain[i])));
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
	char took[CLOCK_TEXT_MAX], when[PAST_WHEN_MAX];
	size_t n = 0;
	int r;

	if (!rows)
		return ctl_fail(ctl, -ENOMEM);
	for (size_t i = 0; i < report->n; i++) {
		const struct report_lane *lane = &report->lanes[i];
		uint64_t total = past_total(report, lane),
			 waiting = past_spent(report, lane, REPORT_WAITING);

		if (past_has_held(lane) && source_is_asked_for(lane->node.path, argc, argv))
			rows[n++] = (struct row){ total - MIN(total, waiting), lane };
	}
	if (n == 0 && argc > 0)
		return ctl_refuse(ctl, CTL_NO_NODE, "the report has no such node");
	qsort(rows, n, sizeof(*rows), blame_compare_rows);
	ctl_print(ctl, "root: complete in %s%s, exit status %" PRIu64,
		  clock_text_fine(took, v->total_usec), v->forced ? ", forced" : "", v->status);
	ctl_print(ctl, "stopped %s on %s: %s", past_when(when, v), v->host, v->cause);
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
	return past_run(ctl, argc, argv, blame_print);
}
