/*
 * Tables of the history, with a row for each node.  Of its ends: number, percentiles of the duration, forced
 * ends, and the most frequent reasons; of its availability: the share, and outages by cause.  Without a running
 * daemon the history ends at its last line.
 */
#include "ctl/history/history.h"

#include "ctl/history/source.h"
#include "ctl/terminal/show.h"

#define REASONS_SHOWN 3

struct period {
	uint64_t since_usec, until_usec; /* since the epoch */
};

/* --- ends --- */

static void history_add_ends(struct table *t, const struct figures *f)
{
	static const unsigned permille[] = { 500, 990, 1000 };
	char text[CLOCK_TEXT_MAX], reasons[SHOW_NOTE_MAX];
	struct words w = words_in(reasons, sizeof(reasons));

	table_add(t, STYLE_BOLD, "%s", node_name(f->node));
	table_add(t, STYLE_PLAIN, "%zu", f->n);
	for (size_t i = 0; i < ARRAY_SIZE(permille); i++)
		table_add(t, STYLE_PLAIN, "%s",
			  clock_text_fine(text, samples_percentile(&f->total, permille[i])));
	table_add(t, f->n_forced ? STYLE_BAD : STYLE_FAINT, f->n_forced ? "%zu" : "-", f->n_forced);
	for (size_t i = 0; i < f->n_reasons && i < REASONS_SHOWN; i++)
		words_add(&w, ", ", "%zu %s", f->reasons[i].n, f->reasons[i].text);
	if (f->n_reasons > REASONS_SHOWN)
		words_add(&w, ", ", "...");
	table_add(t, STYLE_PLAIN, "%s", reasons);
}

/* --- availability --- */

/* A cell with the number of the outages of a cause, and their time. */
static void history_add_cause(struct table *t, const struct ledger_sum *sum, enum outage cause)
{
	char text[CLOCK_TEXT_MAX];

	if (sum->causes[cause].n == 0)
		table_add(t, STYLE_FAINT, "-");
	else
		table_add(t, cause == OUTAGE_PLANNED ? STYLE_PLAIN : STYLE_BAD, "%zu: %s",
			  sum->causes[cause].n, clock_text_fine(text, sum->causes[cause].usec));
}

static void history_add_availability(struct table *t, const struct figures *f,
				     const struct period *period)
{
	char text[CLOCK_TEXT_MAX];
	uint64_t longest = 0;
	struct ledger_sum sum;
	size_t n = 0;

	ledger_add_up(&f->ledger, period->since_usec, period->until_usec, &sum);
	for (enum outage cause = OUTAGE_PLANNED; cause <= OUTAGE_UNKNOWN; cause++) {
		n += sum.causes[cause].n;
		longest = MAX(longest, sum.causes[cause].longest_usec);
	}
	table_add(t, STYLE_BOLD, "%s", f->node);
	table_add(t, STYLE_PLAIN, "%.3f %%",
		  100.0 * (double)sum.ready_usec / (double)MAX(sum.known_usec, UINT64_C(1)));
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, sum.known_usec));
	table_add(t, STYLE_PLAIN, "%zu", n);
	table_add(t, STYLE_PLAIN, "%s", n ? clock_text_fine(text, longest) : "-");
	for (enum outage cause = OUTAGE_PLANNED; cause <= OUTAGE_UNKNOWN; cause++)
		history_add_cause(t, &sum, cause);
}

/* --- both --- */

static json_t *history_build(const struct figures *f, const struct period *period)
{
	return period ? ledger_build(&f->ledger, f->node, period->since_usec, period->until_usec)
		      : figures_build(f);
}

static int history_show(struct ctl *ctl, int argc, char **argv, bool availability)
{
	cleanup(history_freep) struct history *h = NULL;
	cleanup(json_decrefp) json_t *nodes = json_array();
	cleanup(table_done) struct table t = { 0 };
	cleanup(freep) char *path = NULL;
	struct period period;
	int r = source_load(ctl, &h, &path);
	size_t n = 0;

	if (r != CTL_DONE)
		return r;
	period.until_usec = !ctl->options.history && session_has_daemon(ctl) ? clock_realtime_usec()
									     : h->last_usec;
	period.since_usec = ctl->options.since_usec;
	if (period.since_usec == 0)
		period.since_usec = period.until_usec - MIN(period.until_usec, LEDGER_USEC);
	if (availability)
		table_init_titles(&t, "NODE", "READY", "OF", "OUTAGES", "LONGEST", "PLANNED",
				  "DEPENDENCY", "FAILURE", "UNKNOWN");
	else
		table_init_titles(&t, "NODE", "ENDS", "P50", "P99", "LONGEST", "FORCED", "WHY");
	for (size_t i = 0; i < h->n; i++) {
		const struct figures *f = h->nodes[i];

		/* A node without an end is left out. */
		if (!(availability ? ledger_is_kept(&f->ledger) : f->n > 0) ||
		    !source_is_asked_for(f->node, argc, argv))
			continue;
		n++;
		if (ctl->options.json &&
		    json_array_append_new(nodes, history_build(f, availability ? &period : NULL)) < 0)
			return ctl_fail(ctl, -ENOMEM);
		if (availability)
			history_add_availability(&t, f, &period);
		else
			history_add_ends(&t, f);
	}
	if (n == 0 && argc > 0)
		return ctl_refuse(ctl, CTL_NO_NODE, "%s: no such node in %s", argv[0], path);
	if (ctl->options.json) {
		cleanup(json_decrefp) json_t *all =
			json_pack("{s:o, s:I, s:O}", "file", message_string(path), "skipped",
				  (json_int_t)h->skipped, "nodes", nodes);

		return all ? ctl_print_json(ctl, all) : ctl_fail(ctl, -ENOMEM);
	}
	return ctl_print_table(ctl, &t);
}

int cmd_history(struct ctl *ctl, int argc, char **argv)
{
	return history_show(ctl, argc, argv, false);
}

int cmd_availability(struct ctl *ctl, int argc, char **argv)
{
	return history_show(ctl, argc, argv, true);
}
