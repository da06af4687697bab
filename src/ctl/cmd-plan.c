#include "ctl/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "ctl/nodes.h"
#include "ctl/offline.h"
#include "ctl/show.h"
#include "model/forecast.h"

/*
 * A plan is the reply of the daemon, or the same made here of files; it is shown, and compared with
 * the grace.
 */
struct plan {
	json_t *parameters; /* of Plan's reply; what the strings belong to */
	struct plan_entry_view *entries;
	size_t n;
	uint64_t idle_usec, busy_usec;
	uint64_t grace_usec; /* the daemon's */
};

static void plan_done(struct plan *p)
{
	free(p->entries);
	json_decref(p->parameters);
}

static const struct field plan_fields[] = {
	FIELD(plan, FIELD_INT, idle_usec, .optional = true),
	FIELD(plan, FIELD_INT, busy_usec, .optional = true),
	FIELD(plan, FIELD_INT, grace_usec, .optional = true),
};

/* Takes the reference to @parameters.  Return: CTL_DONE, or the exit status for what was said. */
static int plan_init(struct ctl *ctl, json_t *parameters, struct plan *p)
{
	int r;

	p->parameters = parameters;
	if (!parameters)
		return ctl_fail(ctl, -ENOMEM);
	if (field_read(parameters, plan_fields, ARRAY_SIZE(plan_fields), p))
		return ctl_fail(ctl, -EBADMSG);
	r = plan_entry_view_parse_array(parameters, "entries", &p->entries, &p->n);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

/* --- of files --- */

static json_t *build_waits(const struct forecast_row *row)
{
	json_t *waits = json_array();

	for (size_t i = 0; i < row->n_waits; i++)
		if (json_array_append_new(waits, message_string(row->waits[i]->path)) < 0)
			break;
	return waits;
}

static const char *budget_path(const struct forecast_times *times)
{
	return times->budget ? times->budget->path : NULL;
}

static json_t *build_entry(const struct forecast_row *row)
{
	const struct forecast_times *idle = &row->times[FORECAST_IDLE];
	const struct forecast_times *busy = &row->times[FORECAST_BUSY];
	cleanup(json_decrefp) json_t *waits = build_waits(row);

	return plan_entry_view_build(&(struct plan_entry_view){
		.node = row->node->path,
		.kind = forecast_kind_name(row->kind),
		.step = row->step,
		.waits = waits,
		.more_waits = row->n_more ? row->n_more : FIELD_NONE,
		.critical = row->critical,
		.soonest_usec = row->times[FORECAST_SOONEST].begin_usec,
		.begin_usec = idle->begin_usec,
		.end_usec = idle->end_usec,
		.budget = budget_path(idle),
		.busy_begin_usec = busy->begin_usec,
		.busy_end_usec = busy->end_usec,
		.busy_budget = budget_path(busy),
	});
}

/* NULL without memory. */
static json_t *build_plan(const struct forecast *f)
{
	const struct plan totals = {
		.idle_usec = f->end_usec[FORECAST_IDLE],
		.busy_usec = f->end_usec[FORECAST_BUSY],
		.grace_usec = USEC_INFINITY,
	};
	cleanup(json_decrefp) json_t *plan = NULL;
	json_t *entries = json_array();

	for (size_t i = 0; i < f->n_rows; i++)
		if (json_array_append_new(entries, build_entry(&f->rows[i])) < 0)
			break;
	plan = field_write(plan_fields, ARRAY_SIZE(plan_fields), &totals);
	if (json_array_size(entries) < f->n_rows) {
		json_decref(entries);
		return NULL;
	}
	return json_object_set_new(plan, "entries", entries) < 0 ? NULL : take(plan);
}

static void tell(enum diag_level level, const char *text, void *arg)
{
	const struct ctl *ctl = arg;

	if (level == DIAG_ERROR || !ctl->options.quiet)
		offline_print(level, text);
}

static int foresee(struct ctl *ctl, const struct config *config, const struct node_config *top,
		   struct plan *p)
{
	cleanup(forecast_freep) struct forecast *f = NULL;
	struct forecast_tree tree;
	int r = forecast_tree_init(&tree, config);

	if (r < 0)
		return ctl_fail(ctl, r);
	r = forecast_new(&f, &tree, top->index);
	forecast_tree_done(&tree);
	return r < 0 ? ctl_fail(ctl, r) : plan_init(ctl, build_plan(f), p);
}

/* "/" and "root" are the root, as for the daemon. */
static const struct node_config *find_node(const struct config *config, const char *name)
{
	if (!name || strcmp(name, "/") == 0 || strcmp(name, CONFIG_ROOT_NAME) == 0)
		return config->nodes[0];
	return config_find(config, name);
}

static int plan_files(struct ctl *ctl, const char *name, struct plan *p)
{
	cleanup(config_unrefp) struct config *config = NULL;
	cleanup(diag_freep) struct diag *diag = NULL;
	const struct node_config *top;
	int r = offline_load(ctl->options.configs, ctl->options.n_configs, &config, &diag);

	if (diag)
		diag_each(diag, tell, ctl);
	if (r == -EINVAL)
		return CTL_CONFIG;
	if (r < 0)
		return ctl_fail(ctl, r);
	top = find_node(config, name);
	if (top)
		return foresee(ctl, config, top, p);
	log_line(&ctl->log, LOG_ERR, "%s: no such node", name);
	return CTL_NO_NODE;
}

/* --- of the daemon --- */

static int plan_daemon(struct ctl *ctl, int argc, char **argv, struct plan *p)
{
	cleanup(freep) char **paths = NULL;
	struct message_reply reply;
	int r = nodes_resolve(ctl, argv, (size_t)argc, &paths);

	if (r == CTL_DONE && paths[1]) {
		log_line(&ctl->log, LOG_ERR, "%s is more than one node", argv[0]);
		return CTL_USAGE;
	}
	if (r == CTL_DONE)
		r = session_call(ctl, METHOD_PLAN, json_pack("{s:s}", "node", paths[0]), &reply);
	if (r != CTL_DONE)
		return r;
	r = plan_init(ctl, json_incref(reply.parameters), p);
	message_reply_done(&reply);
	return r;
}

/* --- for people --- */

static uint64_t own_usec(const struct plan_entry_view *e)
{
	if (e->end_usec == USEC_INFINITY || e->begin_usec > e->end_usec)
		return USEC_INFINITY;
	return e->end_usec - e->begin_usec;
}

static void add_waits(struct table *t, const struct plan_entry_view *e)
{
	char text[SHOW_NOTE_MAX] = "-";
	uint64_t more = e->more_waits == FIELD_NONE ? 0 : e->more_waits;
	size_t used = 0, index;
	const json_t *wait;

	if (strcmp(e->kind, "final") == 0)
		(void)snprintf(text, sizeof(text), "all of it");
	json_array_foreach(e->waits, index, wait)
	{
		if (used + CONFIG_NAME_MAX + 40 > sizeof(text)) {
			more += json_array_size(e->waits) - index;
			break;
		}
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.*s",
					 index ? ", " : "", CONFIG_NAME_MAX,
					 node_name(json_string_value(wait)));
	}
	if (more)
		(void)snprintf(text + used, sizeof(text) - used, " and %" PRIu64 " more", more);
	table_add(t, STYLE_PLAIN, "%s", text);
}

static void add_note(struct table *t, const struct plan_entry_view *e)
{
	if (e->budget)
		table_add(t, STYLE_BAD, "cut by the shutdown-timeout of %s", node_name(e->budget));
	else if (e->busy_budget)
		table_add(t, STYLE_BUSY, "if busy, cut by the shutdown-timeout of %s",
			  node_name(e->busy_budget));
}

static void add_entry(struct table *t, const struct plan_entry_view *e)
{
	bool final = strcmp(e->kind, "final") == 0;
	char text[CLOCK_TEXT_MAX];

	table_add(t, STYLE_PLAIN, "%" PRIu64, e->step);
	table_add(t, e->critical ? STYLE_BOLD : STYLE_PLAIN, "%s%s", node_name(e->node),
		  final ? " (final)" : "");
	add_waits(t, e);
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, e->begin_usec));
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, own_usec(e)));
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, e->end_usec));
	table_add(t, STYLE_PLAIN, "%s", clock_text(text, e->busy_end_usec));
	add_note(t, e);
	table_end_row(t);
}

static int print_table(struct ctl *ctl, const struct plan *p)
{
	static const char *const titles[] = { "STEP",  "NODE",	  "WAITS FOR", "SIGNAL BY",
					      "TAKES", "ENDS BY", "IF BUSY",   "" };
	cleanup(table_freep) struct table *t = NULL;
	int r = table_new_titled(&t, titles, ARRAY_SIZE(titles));

	if (r < 0)
		return r;
	for (size_t i = 0; i < p->n; i++)
		add_entry(t, &p->entries[i]);
	return p->n ? table_print(t, &ctl->out) : 0;
}

/* "web/nginx 11s, then data/redis 11s": what the time is spent with. */
static void say_critical(struct ctl *ctl, const struct plan *p)
{
	char took[CLOCK_TEXT_MAX], name[1024];
	const char *before = ": ";

	for (size_t i = 0; i < p->n; i++) {
		const struct plan_entry_view *e = &p->entries[i];

		if (!e->critical)
			continue;
		ctl_say(ctl, "%s%s %s", before, text_escape(name, sizeof(name), node_name(e->node)),
			clock_text(took, own_usec(e)));
		before = ", then ";
	}
}

static void say_verdict(struct ctl *ctl, const struct plan *p, uint64_t grace_usec)
{
	char idle[CLOCK_TEXT_MAX], busy[CLOCK_TEXT_MAX], grace[CLOCK_TEXT_MAX];

	ctl_say(ctl, "worst case: %s idle, %s busy", clock_text(idle, p->idle_usec),
		clock_text(busy, p->busy_usec));
	clock_text(grace, grace_usec);
	if (grace_usec == USEC_INFINITY) {
		ctl_say(ctl, "\n");
	} else if (p->busy_usec <= grace_usec) {
		ctl_say(ctl, "; fits %s: yes\n", grace);
	} else if (p->idle_usec <= grace_usec) {
		ctl_say(ctl, "; fits %s: not when busy: lower the shutdown-timeout\n", grace);
	} else {
		ctl_say(ctl, "; fits %s: no", grace);
		say_critical(ctl, p);
		ctl_say(ctl, "\n");
	}
}

static int print_json(struct ctl *ctl, const struct plan *p, uint64_t grace_usec)
{
	if (grace_usec != USEC_INFINITY &&
	    (json_object_set_new(p->parameters, "grace_usec",
				 json_integer((json_int_t)MIN(grace_usec, (uint64_t)INT64_MAX))) <
		     0 ||
	     json_object_set_new(p->parameters, "fits", json_boolean(p->busy_usec <= grace_usec)) <
		     0))
		return ctl_fail(ctl, -ENOMEM);
	return ctl_print_json(ctl, p->parameters);
}

static int show(struct ctl *ctl, const struct plan *p, uint64_t grace_usec)
{
	int r;

	if (ctl->options.json)
		return print_json(ctl, p, grace_usec);
	if (ctl->options.quiet)
		return CTL_DONE;
	r = print_table(ctl, p);
	if (r < 0)
		return ctl_fail(ctl, r);
	say_verdict(ctl, p, grace_usec);
	return CTL_DONE;
}

int cmd_plan(struct ctl *ctl, int argc, char **argv)
{
	cleanup(plan_done) struct plan p = { .parameters = NULL };
	uint64_t grace_usec;
	int r;

	if (ctl->options.n_configs)
		r = plan_files(ctl, argv[0], &p);
	else
		r = plan_daemon(ctl, argc, argv, &p);
	grace_usec =
		ctl->options.grace_usec == USEC_INFINITY ? p.grace_usec : ctl->options.grace_usec;
	if (r == CTL_DONE)
		r = show(ctl, &p, grace_usec);
	if (r != CTL_DONE)
		return r;
	return p.busy_usec > grace_usec ? CTL_FAILED : CTL_DONE;
}
