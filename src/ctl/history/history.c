/*
 * A table of past ends, with a row for each node: number, percentiles of the duration, forced
 * ends, and the most frequent reasons.  The figures come with the loaded history.
 */
#include "ctl/history/history.h"

#include <errno.h>

#include "ctl/history/source.h"
#include "ctl/terminal/show.h"

#define REASONS_SHOWN 3

static void history_add_row(struct table *t, const struct figures *f)
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

static int history_print_table(struct ctl *ctl, const struct history *h, int argc, char **argv)
{
	static const char *const titles[] = { "NODE",	 "ENDS",   "P50", "P99",
					      "LONGEST", "FORCED", "WHY" };
	cleanup(table_done) struct table t;

	table_init(&t, ARRAY_SIZE(titles), titles);
	for (size_t i = 0; i < h->n; i++)
		if (source_is_asked_for(h->nodes[i]->node, argc, argv))
			history_add_row(&t, h->nodes[i]);
	return table_print(&t, &ctl->out);
}

static int history_print_json(struct ctl *ctl, const struct history *h, const char *path, int argc,
			      char **argv)
{
	cleanup(json_decrefp) json_t *all =
		json_pack("{s:o, s:I, s:[]}", "file", message_string(path), "skipped",
			  (json_int_t)h->skipped, "nodes");
	json_t *nodes = json_object_get(all, "nodes");

	for (size_t i = 0; i < h->n; i++)
		if (source_is_asked_for(h->nodes[i]->node, argc, argv) &&
		    json_array_append_new(nodes, figures_build(h->nodes[i])) < 0)
			return ctl_fail(ctl, -ENOMEM);
	return all ? ctl_print_json(ctl, all) : ctl_fail(ctl, -ENOMEM);
}

int cmd_history(struct ctl *ctl, int argc, char **argv)
{
	cleanup(history_freep) struct history *h = NULL;
	cleanup(freep) char *path = NULL;
	bool found = argc == 0;
	int r = source_load(ctl, &h, &path);

	if (r != CTL_DONE)
		return r;
	for (size_t i = 0; i < h->n && !found; i++)
		found = source_is_asked_for(h->nodes[i]->node, argc, argv);
	if (!found)
		return ctl_refuse(ctl, CTL_NO_NODE, "%s: no such node in %s", argv[0], path);
	if (ctl->options.json)
		return history_print_json(ctl, h, path, argc, argv);
	r = ctl->options.quiet ? 0 : history_print_table(ctl, h, argc, argv);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}
