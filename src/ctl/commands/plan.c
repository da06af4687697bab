/*
 * A plan is the reply of the daemon, or is computed here from files; it is shown, and compared with the grace
 * and with past ends.
 *
 * For these the shutdown is drawn EXPECT_DRAWS times.  The entries are in the order of their signals, so that an entry
 * waits only for entries before it.  In a large plan, and if the plan names only some of the nodes that an entry waits
 * for, it waits for all entries of earlier steps: that takes longer, and never less.
 */
#include "ctl/commands/cmd.h"

#include "ctl/history/source.h"
#include "ctl/session/offline.h"
#include "proto/history/advice.h"
#include "proto/plan.h"

#define EXPECT_DRAWS 1000
#define EXACT_MAX    1000

struct plan {
	json_t *parameters; /* of the reply to Plan; owner of the strings */
	struct plan_entry_view *entries;
	size_t n;
	uint64_t idle_usec, busy_usec;
	uint64_t grace_usec;	     /* the daemon's */
	struct history *history;     /* of --from-history, or NULL */
	uint64_t p50_usec, p99_usec; /* by it */
	size_t n_fitting;	     /* draws within the grace */
	size_t n_unknown; /* entries with too few ends: these take as long as in the worst case */
};

static void plan_done(struct plan *p)
{
	free(p->entries);
	history_free(p->history);
	json_decref(p->parameters);
}

DEFINE_FIELD_TABLE(plan, MAY(INT, idle_usec), MAY(INT, busy_usec), MAY(INT, grace_usec))

/* Takes the reference to @parameters.  Return: CTL_DONE, or the exit status of a logged error. */
static int plan_init(struct ctl *ctl, json_t *parameters, struct plan *p)
{
	int r;

	p->parameters = parameters;
	if (!parameters)
		return ctl_fail(ctl, -ENOMEM);
	r = field_read(parameters, &plan_table, p);
	if (r == 0)
		r = plan_entry_view_parse_array(parameters, "entries", &p->entries, &p->n);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

/* --- of files --- */

static int plan_files(struct ctl *ctl, const char *name, struct plan *p)
{
	cleanup(config_unrefp) struct config *config = NULL;
	cleanup(forecast_freep) struct forecast *f = NULL;
	struct forecast_tree tree;
	const struct node_config *top;
	int r = offline_load(ctl, ctl->options.configs.words, ctl->options.configs.n, NULL, NULL,
			     &config);

	if (r != CTL_DONE)
		return r;
	top = offline_find(config, name ? name : "/");
	if (!top)
		return ctl_refuse(ctl, CTL_NO_NODE, "%s: no such node", name);
	r = forecast_tree_init(&tree, config);
	if (r < 0)
		return ctl_fail(ctl, r);
	tree.grace_usec = ctl->options.within_usec;
	r = forecast_new(&f, &tree, top->index);
	forecast_tree_done(&tree);
	return r < 0 ? ctl_fail(ctl, r) : plan_init(ctl, plan_build(f, USEC_INFINITY), p);
}

/* --- of the daemon --- */

static int plan_daemon(struct ctl *ctl, int argc, char **argv, struct plan *p)
{
	cleanup(freep) char **paths = NULL;
	cleanup(message_reply_done) struct message_reply reply = {};
	int r = nodes_resolve(ctl, argv, (size_t)argc, &paths);

	if (r == CTL_DONE && paths[1])
		return ctl_refuse(ctl, CTL_USAGE, "%s: several nodes match: expected one", argv[0]);
	if (r == CTL_DONE)
		r = session_call(ctl, METHOD_PLAN,
				 json_pack("{s:s, s:o*}", "node", paths[0], "within_usec",
					   message_number(ctl->options.within_usec)),
				 &reply);
	return r == CTL_DONE ? plan_init(ctl, json_incref(reply.parameters), p) : r;
}

/* --- the time by past ends --- */

struct step {
	const struct samples *samples; /* NULL: too few */
	uint64_t worst_usec, end_usec;
	size_t *before; /* the entries that it waits for */
	size_t n_before;
};

struct draws {
	const struct plan_entry_view *entries;
	struct step *steps;
	size_t n;
	uint64_t random;
};

static bool plan_is_final(const struct plan_entry_view *entry)
{
	return strcmp(entry->kind, "final") == 0;
}

static uint64_t plan_worst(const struct plan_entry_view *e)
{
	return e->end_usec == USEC_INFINITY || e->begin_usec > e->end_usec
		       ? USEC_INFINITY
		       : e->end_usec - e->begin_usec;
}

static const struct samples *plan_samples(const struct history *history,
					  const struct plan_entry_view *entry)
{
	const struct figures *f = plan_is_final(entry) ? NULL : history_find(history, entry->node);

	return f && f->own.n >= ADVICE_ENDS ? &f->own : NULL;
}

static bool plan_waits_for(const struct draws *x, size_t entry, size_t before)
{
	const struct plan_entry_view *e = &x->entries[entry], *b = &x->entries[before];
	size_t i;
	json_t *wait;

	if (plan_is_final(e))
		return text_is_within(b->node, e->node);
	if (e->more_waits != FIELD_NONE || x->n > EXACT_MAX)
		return b->step < e->step;
	json_array_foreach (e->waits, i, wait) {
		if (text_is_within(b->node, json_string_value(wait)))
			return true;
	}
	return false;
}

static int plan_init_step(struct draws *x, size_t entry, const struct history *history)
{
	const struct plan_entry_view *e = &x->entries[entry];
	struct step *step = &x->steps[entry];

	step->samples = plan_samples(history, e);
	step->worst_usec = plan_worst(e);
	step->before = calloc(entry + 1, sizeof(*step->before));
	for (size_t i = 0; step->before && i < entry; i++)
		if (plan_waits_for(x, entry, i))
			step->before[step->n_before++] = i;
	return step->before ? 0 : -ENOMEM;
}

static void plan_free_steps(struct draws *x)
{
	for (size_t i = 0; x->steps && i < x->n; i++)
		free(x->steps[i].before);
	free(x->steps);
}

static uint64_t plan_draw_end(struct draws *x)
{
	uint64_t last = 0;

	for (size_t i = 0; i < x->n; i++) {
		struct step *step = &x->steps[i];
		uint64_t begin = 0, usec = step->worst_usec;

		/* xorshift64, by Marsaglia. */
		x->random ^= x->random << 13;
		x->random ^= x->random >> 7;
		x->random ^= x->random << 17;
		if (step->samples)
			usec = step->samples->usec[x->random % step->samples->n];
		for (size_t k = 0; k < step->n_before; k++)
			begin = MAX(begin, x->steps[step->before[k]].end_usec);
		step->end_usec = clock_add(begin, usec);
		last = MAX(last, step->end_usec);
	}
	return last;
}

/* Each service takes as long as one of its past ends, and none longer than the worst case of all. */
static int plan_draw(struct plan *p, uint64_t grace_usec)
{
	cleanup(plan_free_steps) struct draws x = {
		.entries = p->entries,
		.n = p->n,
		.steps = calloc(p->n + 1, sizeof(*x.steps)),
		.random = 1, /* the same history gives the same result */
	};
	uint64_t usec[EXPECT_DRAWS];
	const struct samples all = { .usec = usec, .n = EXPECT_DRAWS };
	int r = x.steps ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->n && r == 0; i++) {
		r = plan_init_step(&x, i, p->history);
		p->n_unknown += !x.steps[i].samples;
	}
	if (r < 0)
		return r;
	for (size_t i = 0; i < EXPECT_DRAWS; i++)
		usec[i] = MIN(plan_draw_end(&x), p->busy_usec);
	samples_sort(&all);
	p->p50_usec = samples_percentile(&all, 500);
	p->p99_usec = samples_percentile(&all, 990);
	p->n_fitting = samples_count(&all, grace_usec);
	return 0;
}

static void plan_print_expected(struct ctl *ctl, const struct plan *p, uint64_t grace_usec)
{
	char p50[CLOCK_TEXT_MAX], p99[CLOCK_TEXT_MAX], grace[CLOCK_TEXT_MAX], text[SHOW_NOTE_MAX];
	struct words w = words_in(text, sizeof(text));

	words_add(&w, "", "by past ends: p50 %s, p99 %s", clock_text(p50, p->p50_usec),
		  clock_text(p99, p->p99_usec));
	if (grace_usec != USEC_INFINITY)
		words_add(&w, "; ", "fits %s in %zu of %d draws", clock_text(grace, grace_usec),
			  p->n_fitting, EXPECT_DRAWS);
	if (p->n_unknown)
		words_add(&w, "; ", "%zu of %zu steps have fewer than %d ends: worst case",
			  p->n_unknown, p->n, ADVICE_ENDS);
	ctl_print(ctl, "%s", text);
}

static json_t *plan_expected_json(const struct plan *p)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "p50_usec",
			 (json_int_t)MIN(p->p50_usec, (uint64_t)INT64_MAX), "p99_usec",
			 (json_int_t)MIN(p->p99_usec, (uint64_t)INT64_MAX), "draws",
			 (json_int_t)EXPECT_DRAWS, "fitting", (json_int_t)p->n_fitting, "unknown",
			 (json_int_t)p->n_unknown);
}

/* --- for people --- */

static void plan_add_waits(struct table *t, const struct plan_entry_view *e)
{
	uint64_t more = e->more_waits == FIELD_NONE ? 0 : e->more_waits;
	char text[SHOW_NOTE_MAX];
	struct words w = words_in(text, sizeof(text));
	size_t index;
	const json_t *wait;

	if (plan_is_final(e))
		words_add(&w, "", "all of it");
	json_array_foreach (e->waits, index, wait) {
		if (w.used + CONFIG_NAME_MAX + 40 > sizeof(text)) {
			more += json_array_size(e->waits) - index;
			break;
		}
		words_add(&w, ", ", "%.*s", CONFIG_NAME_MAX, node_name(json_string_value(wait)));
	}
	if (more)
		words_add(&w, " and ", "%" PRIu64 " more", more);
	table_add(t, STYLE_PLAIN, "%s", w.used ? text : "-");
}

static void plan_add_row(struct table *t, const struct plan *p, const struct plan_entry_view *e)
{
	const struct samples *samples = p->history ? plan_samples(p->history, e) : NULL;
	char text[CLOCK_TEXT_MAX] = "";

	table_add(t, STYLE_PLAIN, "%" PRIu64, e->step);
	table_add(t, e->critical ? STYLE_BOLD : STYLE_PLAIN, "%s%s", node_name(e->node),
		  plan_is_final(e) ? " (final)" : "");
	plan_add_waits(t, e);
	if (samples) /* half of its past ends took no longer */
		clock_text(text, samples_percentile(samples, 500));
	table_add(t, STYLE_PLAIN, "%s", text);
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, e->begin_usec));
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, plan_worst(e)));
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, e->end_usec));
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, e->busy_end_usec));
	if (e->early)
		table_add(t, STYLE_BAD, "killed early, for a higher stop-priority");
	else if (e->budget)
		table_add(t, STYLE_BAD, "cut by the shutdown-timeout of %s", node_name(e->budget));
	else if (e->busy_budget)
		table_add(t, STYLE_BUSY, "if busy, cut by the shutdown-timeout of %s",
			  node_name(e->busy_budget));
	table_end_row(t);
}

static int plan_print_table(struct ctl *ctl, const struct plan *p)
{
	cleanup(table_done) struct table t;

	table_init_titles(&t, "STEP", "NODE", "WAITS FOR", p->history ? "USUALLY" : "", "SIGNAL BY",
			  "TAKES", "ENDS BY", "IF BUSY", "");
	for (size_t i = 0; i < p->n; i++)
		plan_add_row(&t, p, &p->entries[i]);
	return ctl_print_table(ctl, &t);
}

/* "web/nginx 11s, then data/redis 11s": the nodes that take the time. */
static void plan_print_critical(FILE *file, const struct plan *p)
{
	char took[CLOCK_TEXT_MAX];
	const char *before = ": ";

	for (size_t i = 0; i < p->n; i++) {
		const struct plan_entry_view *e = &p->entries[i];

		if (!e->critical)
			continue;
		fprintf(file, "%s%s %s", before, node_name(e->node),
			clock_text(took, plan_worst(e)));
		before = ", then ";
	}
}

static int plan_print_verdict(struct ctl *ctl, const struct plan *p, uint64_t grace_usec)
{
	char idle[CLOCK_TEXT_MAX], busy[CLOCK_TEXT_MAX], grace[CLOCK_TEXT_MAX];
	cleanup(freep) char *text = NULL;
	struct memstream m;

	if (memstream_open(&m) < 0)
		return ctl_fail(ctl, -ENOMEM);
	fprintf(m.file, "worst case: %s idle, %s busy", clock_text(idle, p->idle_usec),
		clock_text(busy, p->busy_usec));
	if (grace_usec != USEC_INFINITY)
		fprintf(m.file, "; fits %s: %s", clock_text(grace, grace_usec),
			p->busy_usec <= grace_usec   ? "yes"
			: p->idle_usec <= grace_usec ? "not when busy: lower the shutdown-timeout"
						     : "no");
	if (grace_usec != USEC_INFINITY && p->busy_usec > grace_usec && p->idle_usec > grace_usec)
		plan_print_critical(m.file, p);
	if (memstream_close(&m, &text) < 0)
		return ctl_fail(ctl, -ENOMEM);
	ctl_print(ctl, "%s", text);
	return CTL_DONE;
}

static int plan_print_json(struct ctl *ctl, const struct plan *p, uint64_t grace_usec)
{
	cleanup(json_decrefp) json_t *fit =
		json_pack("{s:o*, s:b}", "grace_usec", message_number(grace_usec), "fits",
			  p->busy_usec <= grace_usec);

	if (grace_usec != USEC_INFINITY && json_object_update(p->parameters, fit) < 0)
		return ctl_fail(ctl, -ENOMEM);
	if (p->history && json_object_set_new(p->parameters, "expected", plan_expected_json(p)) < 0)
		return ctl_fail(ctl, -ENOMEM);
	return ctl_print_json(ctl, p->parameters);
}

int cmd_plan(struct ctl *ctl, int argc, char **argv)
{
	cleanup(plan_done) struct plan p = { .parameters = NULL };
	cleanup(freep) char *path = NULL;
	uint64_t grace_usec;
	int r;

	if (ctl->options.configs.n)
		r = plan_files(ctl, argv[0], &p);
	else
		r = plan_daemon(ctl, argc, argv, &p);
	grace_usec =
		ctl->options.grace_usec == USEC_INFINITY ? p.grace_usec : ctl->options.grace_usec;
	if (r == CTL_DONE && ctl->options.from_history)
		r = source_load(ctl, &p.history, &path);
	if (p.history && plan_draw(&p, grace_usec) < 0)
		r = ctl_fail(ctl, -ENOMEM);
	if (r == CTL_DONE && ctl->options.json)
		r = plan_print_json(ctl, &p, grace_usec);
	else if (r == CTL_DONE)
		r = plan_print_table(ctl, &p);
	if (r == CTL_DONE)
		r = plan_print_verdict(ctl, &p, grace_usec);
	if (r != CTL_DONE)
		return r;
	if (p.history)
		plan_print_expected(ctl, &p, grace_usec);
	return p.busy_usec > grace_usec ? CTL_FAILED : CTL_DONE;
}
