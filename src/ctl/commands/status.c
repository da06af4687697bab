/*
 * Without arguments, a table of all nodes and a summary.  With arguments, a page for each node: lines
 * of a title and a text, its guards, and a table of the nodes below it.
 */
#include "ctl/commands/cmd.h"

#include "ctl/logs/logs.h"
#include "ctl/session/usage.h"

static int status_print_table(struct ctl *ctl, const struct node_view *nodes, size_t n)
{
	cleanup(table_done) struct table t;
	char note[SHOW_NOTE_MAX];

	table_init_titles(&t, "NODE", "STATE", "PID", "GUARDS", "");
	for (const struct node_view *node = nodes; node < nodes + n; node++) {
		table_add(&t, STYLE_BOLD, "%s", node_name(node->path));
		show_add_state(&t, node);
		if (node->is_service && node->service.pid != FIELD_NONE)
			table_add(&t, STYLE_PLAIN, "%" PRIu64, node->service.pid);
		else
			table_add(&t, STYLE_FAINT, "-");
		table_add(&t, STYLE_PLAIN, "%" PRIu64, node->guards);
		table_add(&t, STYLE_PLAIN, "%s", show_note(note, node));
	}
	return ctl_print_table(ctl, &t);
}

/* "5 nodes, 3 services: 2 up, 1 failed" */
static void status_print_summary(struct ctl *ctl, const struct nodes *all)
{
	char nodes[SHOW_COUNT_MAX], services[SHOW_COUNT_MAX], text[512];
	cleanup(json_decrefp) json_t *states =
		json_object(); /* in the order in which they are found */
	struct words w = words_in(text, sizeof(text));
	const char *state;
	json_t *count;
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		if (!all->nodes[i].is_service)
			continue;
		state = all->nodes[i].service.state;
		count = json_object_get(states, state);
		(void)json_object_set_new(states, state,
					  json_integer(json_integer_value(count) + 1));
		n++;
	}
	json_object_foreach (states, state, count)
		words_add(&w, ",", "%s %d %s", *text ? "" : ":", (int)json_integer_value(count),
			  state);
	ctl_print(ctl, "%s, %s%s", show_count(nodes, all->n, "node"),
		  show_count(services, n, "service"), text);
}

/* A line of the page: a title, and a cell with its style and text. */
#define status_add(t, title, ...) table_add(status_add_title(t, title), __VA_ARGS__)

static struct table *status_add_title(struct table *t, const char *text)
{
	table_add(t, STYLE_FAINT, "%10s%s", text, *text ? ":" : "");
	return t;
}

/* The reports of the service by the notify protocol. */
static void status_add_notify_lines(struct table *t, const struct service_view *s)
{
	char age[CLOCK_TEXT_MAX];

	if (s->status)
		status_add(t, "status", STYLE_PLAIN, "%s", s->status);
	if (s->error != FIELD_NONE)
		status_add(t, "error", STYLE_BAD, "%" PRIu64 " (%s)", s->error,
			   strerror((int)MIN(s->error, UINT64_C(4095))));
	if (s->ending)
		status_add(t, "ending", STYLE_BUSY, "by itself");
	if (s->reloading_usec != FIELD_NONE)
		status_add(t, "reloading", STYLE_BUSY, "since %s",
			   clock_text(age, s->reloading_usec));
	if (s->watchdog_usec != FIELD_NONE)
		status_add(t, "watchdog", STYLE_PLAIN, "next WATCHDOG=1 expected in %s",
			   clock_text(age, s->watchdog_usec));
	if (s->stored != FIELD_NONE)
		status_add(t, "stored", STYLE_PLAIN, "%" PRIu64 " descriptors", s->stored);
	if (s->log_trouble)
		status_add(t, "log", STYLE_BAD, "not written: %s", s->log_trouble);
	if (s->lost_bytes != FIELD_NONE)
		status_add(t, "lost", STYLE_BAD, "%" PRIu64 " lines (%" PRIu64 " bytes) of its log",
			   s->lost_lines != FIELD_NONE ? s->lost_lines : 0, s->lost_bytes);
}

static void status_add_health_line(struct table *t, const struct service_view *s)
{
	char age[CLOCK_TEXT_MAX];
	enum style style = strcmp(s->health, "unhealthy") == 0 ? STYLE_BAD
			   : s->health_result		       ? STYLE_BUSY
							       : STYLE_PLAIN;

	status_add(t, "health", style, "%s since %s%s%s", s->health,
		   clock_text(age, s->health_since_usec), s->health_result ? ", last: " : "",
		   s->health_result ? s->health_result : "");
}

static void status_add_schedule_line(struct table *t, const struct service_view *s)
{
	char next[CLOCK_TEXT_MAX], last[CLOCK_TEXT_MAX];

	status_add(t, "schedule", STYLE_PLAIN, "%s, next run %s%s%s%s%s", s->schedule,
		   s->scheduled_usec == FIELD_NONE ? "not within 30 years" : "in ",
		   s->scheduled_usec == FIELD_NONE ? "" : clock_text(next, s->scheduled_usec),
		   s->ran_usec == FIELD_NONE ? "" : ", last run ",
		   s->ran_usec == FIELD_NONE ? "" : clock_text(last, s->ran_usec),
		   s->ran_usec == FIELD_NONE ? "" : " ago");
}

static void status_add_service_lines(struct table *t, const struct service_view *s)
{
	const char *program = s->program ? s->program : "";
	char age[CLOCK_TEXT_MAX];

	status_add(t, "command", STYLE_PLAIN, "%s", s->command);
	if (s->pid != FIELD_NONE)
		status_add(t, "pid", STYLE_PLAIN, "%" PRIu64, s->pid);
	status_add(t, "ready", STYLE_PLAIN, "%s", s->ready ? "yes" : "no");
	status_add(t, "restarts", STYLE_PLAIN, "%" PRIu64, s->restarts);
	if (s->result)
		status_add(t, "result", STYLE_PLAIN, "%s", s->result);
	if (s->disabled)
		status_add(t, "disabled", STYLE_BUSY, "it does not start by itself");
	if (s->outdated)
		status_add(t, "outdated", STYLE_BUSY, "%s%s: restart it, or use rollout",
			   strcmp(program, "replaced") != 0 ? "its settings have changed"
			   : s->replaced		    ? s->replaced
							    : "its program or a library",
			   strcmp(program, "replaced") != 0 ? "" : " was replaced");
	else if (strcmp(program, "unknown") == 0)
		status_add(t, "outdated", STYLE_BUSY, "not known: its files cannot be looked at");
	for (size_t i = 0; i < json_array_size(s->aside); i++)
		status_add(t, i ? "" : "hand-over", STYLE_BUSY, "%s",
			   json_string_value(json_array_get(s->aside, i)));
	if (s->quiet_usec != FIELD_NONE)
		status_add(t, "draining", STYLE_BUSY, "no connection for %s",
			   clock_text(age, s->quiet_usec));
	if (s->schedule)
		status_add_schedule_line(t, s);
	if (s->health)
		status_add_health_line(t, s);
	status_add_notify_lines(t, s);
	if (strcmp(s->state, "listening") == 0)
		status_add(t, "waits for", STYLE_PLAIN, "a connection");
	if (s->turn)
		status_add(t, "waits for", STYLE_BUSY, "its turn in %s: start-parallel", s->turn);
	if (s->pressure)
		status_add(t, "waits for", STYLE_BUSY, "memory: pressure-stop of %s", s->pressure);
	for (size_t i = 0; i < json_array_size(s->waiting); i++)
		status_add(t, i ? "" : "waits for", STYLE_BUSY, "%s",
			   json_string_value(json_array_get(s->waiting, i)));
}

static void status_add_node_lines(struct table *t, const struct node_view *node)
{
	char state[SHOW_STATE_MAX], age[CLOCK_TEXT_MAX];
	uint64_t kill_usec = show_kill_usec(node);
	enum style style;

	show_state(state, node, &style);
	status_add(t, "state", style, "%s since %s", state,
		   clock_text(age, node->is_service ? node->service.since_usec : node->since_usec));
	status_add(t, "node", node->forced ? STYLE_BAD : STYLE_PLAIN,
		   "%s since %s, generation %" PRIu64 "%s",
		   node->state == NODE_SHUTTING_DOWN ? "shutting down"
						     : node_view_states[node->state],
		   clock_text(age, node->since_usec), node->generation,
		   node->forced ? ", forced" : "");
	if (kill_usec != FIELD_NONE)
		status_add(t, "kill in", STYLE_BUSY, "%s", clock_text(age, kill_usec));
	if (node->agent)
		status_add(t, "agent", STYLE_PLAIN, "replies %s to balancers", node->agent);
	if (node->is_service)
		status_add_service_lines(t, &node->service);
}

static void status_add_usage_line(struct table *t, struct ctl *ctl, const struct node_view *node)
{
	char time[CLOCK_TEXT_MAX], bytes[USAGE_TEXT_MAX], count[SHOW_COUNT_MAX], text[256];
	struct words w = words_in(text, sizeof(text));
	struct usage u;

	if (!usages_of_one(ctl, node, &u))
		return;
	words_add(&w, "", "%s of processor time, %s of memory, %" PRIu64 " process%s",
		  clock_text(time, u.cpu_usec), usage_bytes_text(bytes, u.memory), u.processes,
		  u.processes == 1 ? "" : "es");
	if (u.descriptors != USAGE_UNKNOWN)
		words_add(&w, ", ", "%s", show_count(count, u.descriptors, "descriptor"));
	status_add(t, "uses", STYLE_PLAIN, "%s", text);
}

static int status_all(struct ctl *ctl)
{
	cleanup(nodes_done) struct nodes nodes = {};
	int r = nodes_fetch(ctl, "", true, &nodes);

	if (r == CTL_DONE)
		r = status_print_table(ctl, nodes.nodes, nodes.n);
	if (r != CTL_DONE)
		return r;
	status_print_summary(ctl, &nodes);
	rollout_print(ctl, json_object_get(nodes.reply.parameters, "rollout"));
	return CTL_DONE;
}

/* --- its last lines --- */

#define LAST_LINES 10
#define LAST_CALL  200 /* lines that are searched for those of a failed run */
#define LAST_BYTES 400
#define LAST_USEC  (1 * USEC_PER_SEC)

/* Selects the lines of the last run: those of standard error only, if there are any. */
struct last_run {
	int64_t pid; /* 0: of any run */
	bool errors;
};

static bool status_is_line_of(const struct log_line *line, const struct last_run *run)
{
	return (!run->pid || line->pid == run->pid) &&
	       (!run->errors || line->source->kind == LOGGER_ERROR);
}

static void status_add_log_line(struct table *t, const char *text, const struct log_line *line)
{
	time_t seconds = (time_t)(line->time_usec / USEC_PER_SEC);
	char clock[16] = "";
	struct tm tm;

	if (line->time_usec > 0)
		(void)strftime(clock, sizeof(clock), "%H:%M:%S ", localtime_r(&seconds, &tm));
	status_add(t, text, STYLE_PLAIN, "%s%.*s%s", clock,
		   (int)MIN(line->length, (size_t)LAST_BYTES), line->text,
		   line->length > LAST_BYTES ? " ..." : "");
}

static void status_add_log_lines(struct table *t, const struct logs *logs, bool failed)
{
	size_t last = logs->lines.n - 1, n = 0, skip;
	struct last_run run = { .pid = failed && logs->lines.n ? logs->lines.lines[last]->pid : 0 };
	const char *text = failed ? "last run" : "log";

	for (size_t i = 0; failed && i < logs->lines.n; i++)
		run.errors |= logs->lines.lines[i]->pid == run.pid &&
			      logs->lines.lines[i]->source->kind == LOGGER_ERROR;
	for (size_t i = 0; i < logs->lines.n; i++)
		n += status_is_line_of(logs->lines.lines[i], &run);
	skip = n > LAST_LINES ? n - LAST_LINES : 0;
	for (size_t i = 0; i < logs->lines.n; i++) {
		if (!status_is_line_of(logs->lines.lines[i], &run) || (skip > 0 && skip--))
			continue;
		status_add_log_line(t, text, logs->lines.lines[i]);
		text = "";
	}
}

/* A client that may only look is shown none. */
static void status_add_log(struct ctl *ctl, struct table *t, const struct node_view *node)
{
	bool failed = strcmp(node->service.state, "failed") == 0;
	struct logs logs;

	logs_init(&logs, ctl, failed ? LAST_CALL : LAST_LINES);
	logs.quiet = true;
	if (json_array_append_new(logs.nodes, json_string(node->path)) == 0 &&
	    logs_ask(&logs, false) == CTL_DONE &&
	    logs_collect(&logs, clock_add(clock_now_usec(), LAST_USEC)) == CTL_DONE)
		status_add_log_lines(t, &logs, failed);
	logs_done(&logs);
}

/* --- pages and tables --- */

/* Prints a page about a node; the nodes below it follow as a list. */
static int status_show_page(struct ctl *ctl, const struct nodes *nodes, const json_t *parameters)
{
	cleanup(freep) struct guard_view *guards = NULL;
	cleanup(table_done) struct table t = {};
	char holder[SHOW_NOTE_MAX], age[CLOCK_TEXT_MAX];
	size_t n = 0;
	int r = guard_view_parse_array(parameters, "guards", &guards, &n);

	if (r < 0)
		return ctl_fail(ctl, r);
	table_init(&t, 2, NULL);
	table_add(&t, STYLE_BOLD, "%s", node_name(nodes->nodes[0].path));
	table_end_row(&t);
	status_add_node_lines(&t, &nodes->nodes[0]);
	status_add_usage_line(&t, ctl, &nodes->nodes[0]);
	for (size_t i = 0; i < n; i++)
		status_add(&t, i ? "" : "guards", STYLE_PLAIN, "%s, %s, for %s", guards[i].kind,
			   show_holder(holder, &guards[i]), clock_text(age, guards[i].age_usec));
	if (nodes->nodes[0].is_service)
		status_add_log(ctl, &t, &nodes->nodes[0]);
	r = ctl_print_table(ctl, &t);
	if (r != CTL_DONE || nodes->n == 1)
		return r;
	ctl_print(ctl, "%s", "");
	return status_print_table(ctl, nodes->nodes + 1, nodes->n - 1);
}

static int status_one(struct ctl *ctl, const char *path, json_t *all)
{
	cleanup(message_reply_done) struct message_reply reply = {};
	cleanup(nodes_done) struct nodes nodes = {};
	int r = nodes_fetch(ctl, path, true, &nodes);

	if (r != CTL_DONE || (ctl->options.quiet && !ctl->options.json))
		return r;
	if (!ctl->options.json) {
		r = session_call(ctl, METHOD_GUARDS, json_pack("{s:s}", "node", path), &reply);
		if (r != CTL_DONE)
			return r;
		return nodes.n ? status_show_page(ctl, &nodes, reply.parameters)
			       : ctl_fail(ctl, -EBADMSG);
	}
	(void)json_object_set(all, "rollout", json_object_get(nodes.reply.parameters, "rollout"));
	r = json_array_extend(json_object_get(all, "nodes"),
			      json_object_get(nodes.reply.parameters, "nodes"));
	return r < 0 ? ctl_fail(ctl, -ENOMEM) : CTL_DONE;
}

int cmd_status(struct ctl *ctl, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "nodes");
	cleanup(freep) char **paths = NULL;
	int r;

	if (argc == 0 && !ctl->options.json)
		return status_all(ctl);
	r = nodes_resolve(ctl, argv, (size_t)argc, &paths);
	for (size_t i = 0; r == CTL_DONE && paths[i]; i++) {
		if (i)
			ctl_print(ctl, "%s", "");
		r = status_one(ctl, paths[i], all);
	}
	return r == CTL_DONE && ctl->options.json ? ctl_print_json(ctl, all) : r;
}
