#include "ctl/commands/cmd.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "ctl/report/past.h"
#include "ctl/report/plot.h"
#include "ctl/report/start.h"
#include "ctl/terminal/show.h"
#include "proto/history/otlp.h"

/*
 * The last shutdown as a table: the time of each node, and the chain that the end waited for; or
 * as a picture.
 */

#define CHAIN_MAX 32

/* An argument is a glob of paths, or a node with all that is in it. */
static bool is_asked_for(const char *path, int argc, char **argv)
{
	bool found = argc == 0;

	for (int i = 0; i < argc && !found; i++)
		found = strcmp(argv[i], "/") == 0 || strcmp(argv[i], "root") == 0 ||
			fnmatch(argv[i], path, FNM_PATHNAME) == 0 || text_is_within(path, argv[i]);
	return found;
}

/* The time of the node itself, without the time it waited for others. */
static uint64_t own_usec(const struct report *report, const struct report_lane *lane)
{
	uint64_t total = past_total(report, lane),
		 waiting = past_spent(report, lane, REPORT_WAITING);

	return total - MIN(total, waiting);
}

struct row {
	uint64_t own_usec;
	const struct report_lane *lane;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->own_usec != y->own_usec)
		return x->own_usec < y->own_usec ? 1 : -1;
	return strcmp(x->lane->node.path, y->lane->node.path);
}

static void add_span(struct table *t, enum style style, uint64_t usec)
{
	char text[CLOCK_TEXT_MAX];

	/* An open gate takes no time but for the check. */
	bool any = usec >= USEC_PER_MSEC / 10;

	table_add(t, any ? style : STYLE_FAINT, "%s", any ? clock_text_fine(text, usec) : "-");
}

/* The columns show the guard of the process. */
static bool is_to_be_named(const struct report_guard *guard)
{
	return strcmp(guard->kind, "process") != 0;
}

/* "forced; lease pg_dump, pid 9911, postgres, "nightly" for 3.2s, revoked" */
static void note(char buf[static SHOW_NOTE_MAX], const struct report *report,
		 const struct report_lane *lane)
{
	struct words w = words_in(buf, SHOW_NOTE_MAX);

	if (lane->node.late_usec != FIELD_NONE)
		words_add(&w, "", "forced");
	for (size_t i = 0; i < lane->n_guards; i++) {
		const struct report_guard *g = &lane->guards[i];
		struct guard_view view = past_guard(report, lane, g);
		char holder[SHOW_NOTE_MAX], age[CLOCK_TEXT_MAX];

		if (is_to_be_named(g))
			words_add(&w, "; ", "%s %s for %s%s%s", g->kind, show_holder(holder, &view),
				  clock_text_fine(age, view.age_usec), g->end ? ", " : "",
				  g->end ? g->end : "");
	}
}

static void add_row(struct table *t, const struct report *report, const struct row *row)
{
	const struct report_lane *lane = row->lane;
	char text[SHOW_NOTE_MAX];

	add_span(t, STYLE_BOLD, row->own_usec);
	table_add(t, STYLE_BOLD, "%s", node_name(lane->node.path));
	add_span(t, STYLE_PLAIN, past_total(report, lane));
	add_span(t, STYLE_PLAIN, past_spent(report, lane, REPORT_WAITING));
	add_span(t, STYLE_PLAIN, past_spent(report, lane, REPORT_DRAINING));
	add_span(t, STYLE_PLAIN,
		 clock_add(past_spent(report, lane, REPORT_STOPPING),
			   past_spent(report, lane, REPORT_CLOSING)));
	add_span(t, STYLE_BAD, past_spent(report, lane, REPORT_KILLING));
	note(text, report, lane);
	table_add(t, lane->node.late_usec != FIELD_NONE ? STYLE_BAD : STYLE_PLAIN, "%s", text);
}

static int print_table(struct ctl *ctl, const struct report *report, const struct row *rows,
		       size_t n)
{
	static const char *const titles[] = { "TOOK",	  "NODE",     "TOTAL",	"WAITING",
					      "DRAINING", "STOPPING", "KILLED", "HELD BY" };
	cleanup(table_done) struct table t;

	table_init(&t, ARRAY_SIZE(titles), titles);
	for (size_t i = 0; i < n; i++)
		add_row(&t, report, &rows[i]);
	return table_print(&t, &ctl->out);
}

/* "root: complete in 4.2s, forced, exit status 124", and why. */
static void say_head(struct ctl *ctl, const struct report_view *v)
{
	char took[CLOCK_TEXT_MAX], when[PAST_WHEN_MAX];

	ctl_say(ctl, "root: complete in %s%s, exit status %" PRIu64,
		clock_text_fine(took, v->total_usec), v->forced ? ", forced" : "", v->status);
	ctl_say(ctl, "stopped %s on %s: %s", past_when(when, v), v->host, v->cause);
	if (v->lost)
		ctl_say(ctl, "%" PRIu64 " guards or states are missing in the report", v->lost);
	ctl_say(ctl, "%s", "");
}

/* The guard that was held longest, without the process; or NULL. */
static const struct report_guard *last_guard(const struct report_lane *lane)
{
	const struct report_guard *last = NULL;

	for (size_t i = 0; i < lane->n_guards; i++)
		if (is_to_be_named(&lane->guards[i]) &&
		    (!last || lane->guards[i].gone_usec >= last->gone_usec))
			last = &lane->guards[i];
	return last;
}

/* Returns true if the guard was held almost to the end: a program ends a moment later. */
static bool is_the_reason(const struct report_guard *guard, uint64_t end)
{
	uint64_t rest = end / 10 > USEC_PER_MSEC ? end / 10 : USEC_PER_MSEC;

	return clock_add(guard->gone_usec, rest) >= end;
}

/* The states of the node in order: "waiting 1.2s, stopping 302ms". */
static void describe(char buf[static SHOW_NOTE_MAX], const struct report *report,
		     const struct report_lane *lane)
{
	const struct report_guard *last = last_guard(lane);
	char text[CLOCK_TEXT_MAX], holder[SHOW_NOTE_MAX];
	struct words w = words_in(buf, SHOW_NOTE_MAX);

	for (size_t i = 0; i < lane->n_states; i++) {
		uint64_t usec = past_state_usec(report, lane, i);
		enum report_part part = report_part(lane->states[i].state);

		if (usec >= USEC_PER_MSEC && part != REPORT_RUNNING && part != REPORT_OVER)
			words_add(&w, ", ", "%s %s", lane->states[i].state,
				  clock_text_fine(text, usec));
	}
	if (last && is_the_reason(last, past_end(report, lane))) {
		struct guard_view view = past_guard(report, lane, last);

		words_add(&w, ", ", "%s %s", last->kind, show_holder(holder, &view));
	}
}

static int print_chain(struct ctl *ctl, const struct past *past)
{
	const struct report_lane *chain[CHAIN_MAX];
	size_t n = past_chain(past, chain, CHAIN_MAX);
	cleanup(table_done) struct table t;

	table_init(&t, 3, NULL);
	if (n == 0)
		return 0;
	ctl_say(ctl, "%s", "");
	ctl_say(ctl, "The end waited for:");
	for (size_t i = 0; i < n; i++) {
		char text[SHOW_NOTE_MAX], at[CLOCK_TEXT_MAX];

		table_add(&t, STYLE_BOLD, "  %*s%s", (int)(2 * i), "",
			  node_name(chain[i]->node.path));
		table_add(&t, STYLE_PLAIN, "+%s",
			  clock_text_fine(at, past_end(&past->report, chain[i])));
		describe(text, &past->report, chain[i]);
		table_add(&t, STYLE_PLAIN, "%s", text);
	}
	return table_print(&t, &ctl->out);
}

static int show(struct ctl *ctl, const struct past *past, int argc, char **argv)
{
	const struct report *report = &past->report;
	cleanup(freep) struct row *rows = calloc(report->n + 1, sizeof(*rows));
	size_t n = 0;
	int r;

	if (!rows)
		return ctl_fail(ctl, -ENOMEM);
	for (size_t i = 0; i < report->n; i++) {
		const struct report_lane *lane = &report->lanes[i];

		if (past_has_held(lane) && is_asked_for(lane->node.path, argc, argv))
			rows[n++] = (struct row){ own_usec(report, lane), lane };
	}
	if (n == 0 && argc > 0) {
		log_line(&ctl->log, LOG_ERR, "the report has no such node");
		return CTL_NO_NODE;
	}
	qsort(rows, n, sizeof(*rows), compare_rows);
	say_head(ctl, &report->view);
	r = print_table(ctl, report, rows, n);
	if (r == 0 && argc == 0)
		r = print_chain(ctl, past);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

static int print_spans(struct ctl *ctl, const struct report *report, enum otlp_kind kind)
{
	cleanup(json_decrefp) json_t *spans = otlp_build(report, kind);

	return spans ? ctl_print_json(ctl, spans) : ctl_fail(ctl, -ENOMEM);
}

static int print_shutdown(struct ctl *ctl, const struct past *past, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return print_spans(ctl, &past->report, OTLP_SHUTDOWN);
}

static int print_start(struct ctl *ctl, const struct report *report)
{
	return print_spans(ctl, report, OTLP_START);
}

int cmd_blame(struct ctl *ctl, int argc, char **argv)
{
	if (ctl->options.start && (!ctl->options.otlp || argc > 1)) {
		log_line(&ctl->log, LOG_ERR, "--start: expected --otlp, and one node at most");
		return CTL_USAGE;
	}
	if (ctl->options.start)
		return start_run(ctl, argv[0], print_start);
	return past_run(ctl, argc, argv, ctl->options.otlp ? print_shutdown : show);
}

static int draw(struct ctl *ctl, const struct past *past, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	plot_write(ctl->out.file, past);
	return CTL_DONE;
}

int cmd_plot(struct ctl *ctl, int argc, char **argv)
{
	return past_run(ctl, argc, argv, draw);
}
