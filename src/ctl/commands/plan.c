#include "ctl/commands/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/memstream.h"
#include "ctl/history/expect.h"
#include "ctl/history/source.h"
#include "ctl/session/nodes.h"
#include "ctl/session/offline.h"
#include "ctl/terminal/show.h"
#include "proto/plan.h"

/*
 * A plan is the reply of the daemon, or the same made here of files; it is shown, and compared with
 * the grace, and with past ends.
 */
struct plan {
	json_t *parameters; /* of the reply to Plan; owner of the strings */
	struct plan_entry_view *entries;
	size_t n;
	uint64_t idle_usec, busy_usec;
	uint64_t grace_usec;	 /* the daemon's */
	struct history *history; /* of --from-history, or NULL */
	struct expectation expected;
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
		r = session_call(ctl, METHOD_PLAN, json_pack("{s:s}", "node", paths[0]), &reply);
	return r == CTL_DONE ? plan_init(ctl, json_incref(reply.parameters), p) : r;
}

/* --- for people --- */

static uint64_t plan_own_usec(const struct plan_entry_view *e)
{
	if (e->end_usec == USEC_INFINITY || e->begin_usec > e->end_usec)
		return USEC_INFINITY;
	return e->end_usec - e->begin_usec;
}

static void plan_add_waits(struct table *t, const struct plan_entry_view *e)
{
	uint64_t more = e->more_waits == FIELD_NONE ? 0 : e->more_waits;
	char text[SHOW_NOTE_MAX];
	struct words w = words_in(text, sizeof(text));
	size_t index;
	const json_t *wait;

	if (strcmp(e->kind, "final") == 0)
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
	const struct samples *samples = p->history ? expect_samples(p->history, e) : NULL;
	bool final = strcmp(e->kind, "final") == 0;
	char text[CLOCK_TEXT_MAX] = "";

	table_add(t, STYLE_PLAIN, "%" PRIu64, e->step);
	table_add(t, e->critical ? STYLE_BOLD : STYLE_PLAIN, "%s%s", node_name(e->node),
		  final ? " (final)" : "");
	plan_add_waits(t, e);
	if (samples) /* half of its past ends took no longer */
		clock_text(text, samples_percentile(samples, 500));
	table_add(t, STYLE_PLAIN, "%s", text);
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, e->begin_usec));
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, plan_own_usec(e)));
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, e->end_usec));
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, e->busy_end_usec));
	if (e->budget)
		table_add(t, STYLE_BAD, "cut by the shutdown-timeout of %s", node_name(e->budget));
	else if (e->busy_budget)
		table_add(t, STYLE_BUSY, "if busy, cut by the shutdown-timeout of %s",
			  node_name(e->busy_budget));
	table_end_row(t);
}

static int plan_print_table(struct ctl *ctl, const struct plan *p)
{
	const char *const titles[] = { "STEP",	    "NODE",
				       "WAITS FOR", p->history ? "USUALLY" : "",
				       "SIGNAL BY", "TAKES",
				       "ENDS BY",   "IF BUSY",
				       "" };
	cleanup(table_done) struct table t;

	table_init(&t, ARRAY_SIZE(titles), titles);
	for (size_t i = 0; i < p->n; i++)
		plan_add_row(&t, p, &p->entries[i]);
	return table_print(&t, &ctl->out);
}

/* "web/nginx 11s, then data/redis 11s": the nodes that the time is spent with. */
static void plan_print_critical(FILE *file, const struct plan *p)
{
	char took[CLOCK_TEXT_MAX];
	const char *before = ": ";

	for (size_t i = 0; i < p->n; i++) {
		const struct plan_entry_view *e = &p->entries[i];

		if (!e->critical)
			continue;
		fprintf(file, "%s%s %s", before, node_name(e->node),
			clock_text(took, plan_own_usec(e)));
		before = ", then ";
	}
}

static int plan_print_verdict(struct ctl *ctl, const struct plan *p, uint64_t grace_usec)
{
	char idle[CLOCK_TEXT_MAX], busy[CLOCK_TEXT_MAX], grace[CLOCK_TEXT_MAX];
	cleanup(freep) char *text = NULL;
	struct memstream m;
	int r = memstream_open(&m);

	if (r < 0)
		return r;
	fprintf(m.file, "worst case: %s idle, %s busy", clock_text(idle, p->idle_usec),
		clock_text(busy, p->busy_usec));
	if (grace_usec != USEC_INFINITY)
		fprintf(m.file, "; fits %s: %s", clock_text(grace, grace_usec),
			p->busy_usec <= grace_usec   ? "yes"
			: p->idle_usec <= grace_usec ? "not when busy: lower the shutdown-timeout"
						     : "no");
	if (grace_usec != USEC_INFINITY && p->busy_usec > grace_usec && p->idle_usec > grace_usec)
		plan_print_critical(m.file, p);
	r = memstream_close(&m, &text);
	if (r == 0)
		ctl_print(ctl, "%s", text);
	return r;
}

static int plan_print_json(struct ctl *ctl, const struct plan *p, uint64_t grace_usec)
{
	json_int_t grace = (json_int_t)MIN(grace_usec, (uint64_t)INT64_MAX);
	cleanup(json_decrefp) json_t *fit =
		json_pack("{s:I, s:b}", "grace_usec", grace, "fits", p->busy_usec <= grace_usec);

	if (grace_usec != USEC_INFINITY && json_object_update(p->parameters, fit) < 0)
		return ctl_fail(ctl, -ENOMEM);
	if (p->history &&
	    json_object_set_new(p->parameters, "expected", expect_json(&p->expected)) < 0)
		return ctl_fail(ctl, -ENOMEM);
	return ctl_print_json(ctl, p->parameters);
}

static int plan_print(struct ctl *ctl, const struct plan *p, uint64_t grace_usec)
{
	int r;

	if (ctl->options.json)
		return plan_print_json(ctl, p, grace_usec);
	if (ctl->options.quiet)
		return CTL_DONE;
	r = plan_print_table(ctl, p);
	if (r == 0)
		r = plan_print_verdict(ctl, p, grace_usec);
	if (r == 0 && p->history)
		expect_print(ctl, &p->expected, grace_usec);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

/* Return: CTL_DONE, or the exit status of the error that was logged. */
static int plan_load_expectation(struct ctl *ctl, struct plan *p, uint64_t grace_usec)
{
	cleanup(freep) char *path = NULL;
	int r = source_load(ctl, &p->history, &path);

	if (r != CTL_DONE)
		return r;
	r = expect_plan(p->history, p->entries, p->n, p->busy_usec, grace_usec, &p->expected);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

int cmd_plan(struct ctl *ctl, int argc, char **argv)
{
	cleanup(plan_done) struct plan p = { .parameters = NULL };
	uint64_t grace_usec;
	int r;

	if (ctl->options.configs.n)
		r = plan_files(ctl, argv[0], &p);
	else
		r = plan_daemon(ctl, argc, argv, &p);
	grace_usec =
		ctl->options.grace_usec == USEC_INFINITY ? p.grace_usec : ctl->options.grace_usec;
	if (r == CTL_DONE && ctl->options.from_history)
		r = plan_load_expectation(ctl, &p, grace_usec);
	if (r == CTL_DONE)
		r = plan_print(ctl, &p, grace_usec);
	if (r != CTL_DONE)
		return r;
	return p.busy_usec > grace_usec ? CTL_FAILED : CTL_DONE;
}
