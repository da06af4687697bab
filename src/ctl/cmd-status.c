#include "ctl/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "ctl/nodes.h"
#include "ctl/show.h"

/* A table of nodes, and what there is to say of them all. */
struct list {
	struct table *table;
	size_t nodes, services;
	struct {
		const char *state;
		unsigned n;
	} states[16]; /* as they first come, the last for all the others */
};

static int list_new(struct list *ret)
{
	static const char *const titles[] = { "NODE", "STATE", "PID", "GUARDS", "" };

	*ret = (struct list){};
	return table_new_titled(&ret->table, titles, ARRAY_SIZE(titles));
}

static void list_done(struct list *list)
{
	list->table = table_free(list->table);
}

static void list_count(struct list *list, const struct node_view *node)
{
	size_t k = 0;

	list->nodes++;
	if (!node->is_service)
		return;
	list->services++;
	while (k < ARRAY_SIZE(list->states) - 1 && list->states[k].state &&
	       strcmp(list->states[k].state, node->service.state) != 0)
		k++;
	list->states[k].state = node->service.state;
	list->states[k].n++;
}

static void list_add(struct list *list, const struct node_view *node)
{
	struct table *t = list->table;
	char state[SHOW_STATE_MAX], note[SHOW_NOTE_MAX];
	enum style style;

	show_state(state, node, &style);
	table_add_text(t, STYLE_BOLD, node_name(node->path));
	table_add_text(t, style, state);
	if (node->is_service && node->service.pid != FIELD_NONE)
		table_add_number(t, STYLE_PLAIN, node->service.pid);
	else
		table_add_text(t, STYLE_FAINT, "-");
	table_add_number(t, STYLE_PLAIN, node->guards);
	table_add_text(t, STYLE_PLAIN, show_note(note, node));
	table_end_row(t);
	list_count(list, node);
}

/* "5 nodes, 3 services: 2 up, 1 failed" */
static void list_print_summary(struct ctl *ctl, const struct list *list)
{
	char nodes[SHOW_COUNT_MAX], services[SHOW_COUNT_MAX], states[ARRAY_SIZE(list->states) * 32];
	int used = 0;

	states[0] = '\0';
	for (size_t k = 0; k < ARRAY_SIZE(list->states) && list->states[k].state; k++)
		used += snprintf(states + used, sizeof(states) - (size_t)used, "%s %u %s",
				 k ? "," : ":", list->states[k].n, list->states[k].state);
	ctl_say(ctl, "%s, %s%s\n", show_count(nodes, list->nodes, "node"),
		show_count(services, list->services, "service"), states);
}

static void add_line(struct table *t, const char *title, enum style style, const char *value)
{
	table_add(t, STYLE_FAINT, "%10s%s", title, *title ? ":" : "");
	table_add(t, style, "%s", value);
	table_end_row(t);
}

/* What it says of itself, by the notify protocol. */
static void add_words_lines(struct table *t, const struct service_view *s)
{
	char age[CLOCK_TEXT_MAX], text[CLOCK_TEXT_MAX + 100];

	if (s->status)
		add_line(t, "status", STYLE_PLAIN, s->status);
	if (s->error != FIELD_NONE) {
		(void)snprintf(text, sizeof(text), "%" PRIu64 " (%s)", s->error,
			       strerror((int)MIN(s->error, UINT64_C(4095))));
		add_line(t, "error", STYLE_BAD, text);
	}
	if (s->ending)
		add_line(t, "ending", STYLE_BUSY, "by itself");
	if (s->reloading_usec != FIELD_NONE) {
		(void)snprintf(text, sizeof(text), "since %s", clock_text(age, s->reloading_usec));
		add_line(t, "reloading", STYLE_BUSY, text);
	}
	if (s->watchdog_usec != FIELD_NONE) {
		(void)snprintf(text, sizeof(text), "a sign of life is due in %s",
			       clock_text(age, s->watchdog_usec));
		add_line(t, "watchdog", STYLE_PLAIN, text);
	}
	if (s->stored != FIELD_NONE) {
		(void)snprintf(text, sizeof(text), "%" PRIu64 " descriptors", s->stored);
		add_line(t, "stored", STYLE_PLAIN, text);
	}
}

static void add_health_line(struct table *t, const struct service_view *s)
{
	char age[CLOCK_TEXT_MAX], text[CLOCK_TEXT_MAX + 256];

	if (!s->health)
		return;
	(void)snprintf(text, sizeof(text), "%s since %s%s%s", s->health,
		       clock_text(age, s->health_since_usec), s->health_result ? ", last: " : "",
		       s->health_result ? s->health_result : "");
	add_line(t, "health",
		 strcmp(s->health, "unhealthy") == 0 ? STYLE_BAD
		 : s->health_result		     ? STYLE_BUSY
						     : STYLE_PLAIN,
		 text);
}

static void add_service_lines(struct table *t, const struct service_view *s)
{
	char text[64];

	add_line(t, "command", STYLE_PLAIN, s->command);
	if (s->pid != FIELD_NONE) {
		(void)snprintf(text, sizeof(text), "%" PRIu64, s->pid);
		add_line(t, "pid", STYLE_PLAIN, text);
	}
	add_line(t, "ready", STYLE_PLAIN, s->ready ? "yes" : "no");
	(void)snprintf(text, sizeof(text), "%" PRIu64, s->restarts);
	add_line(t, "restarts", STYLE_PLAIN, text);
	if (s->result)
		add_line(t, "result", STYLE_PLAIN, s->result);
	add_health_line(t, s);
	add_words_lines(t, s);
	for (size_t i = 0; i < json_array_size(s->waiting); i++)
		add_line(t, i ? "" : "waiting", STYLE_BUSY,
			 json_string_value(json_array_get(s->waiting, i)));
}

static void add_node_lines(struct table *t, const struct node_view *node)
{
	char state[SHOW_STATE_MAX], age[CLOCK_TEXT_MAX], text[2 * CLOCK_TEXT_MAX + 64];
	uint64_t kill_usec = show_kill_usec(node);
	enum style style;

	show_state(state, node, &style);
	(void)snprintf(
		text, sizeof(text), "%s since %s", state,
		clock_text(age, node->is_service ? node->service.since_usec : node->since_usec));
	add_line(t, "state", style, text);
	(void)snprintf(text, sizeof(text), "%s since %s, generation %" PRIu64 "%s",
		       node->state == NODE_SHUTTING_DOWN ? "shutting down"
							 : node_view_state_name(node->state),
		       clock_text(age, node->since_usec), node->generation,
		       node->forced ? ", forced" : "");
	add_line(t, "node", node->forced ? STYLE_BAD : STYLE_PLAIN, text);
	if (kill_usec != FIELD_NONE)
		add_line(t, "kill in", STYLE_BUSY, clock_text(age, kill_usec));
	if (node->is_service)
		add_service_lines(t, &node->service);
}

static void add_guard_lines(struct table *t, const struct guard_view *guards, size_t n)
{
	char holder[SHOW_NOTE_MAX], age[CLOCK_TEXT_MAX], text[SHOW_NOTE_MAX + 300];

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(text, sizeof(text), "%s, %s, for %s", guards[i].kind,
			       show_holder(holder, &guards[i]),
			       clock_text(age, guards[i].age_usec));
		add_line(t, i ? "" : "guards", STYLE_PLAIN, text);
	}
}

/* One page about one node; what is below it follows as a list. */
static int print_page(struct ctl *ctl, const struct nodes *nodes, const struct guard_view *guards,
		      size_t n_guards)
{
	cleanup(table_freep) struct table *t = NULL;
	int r = table_new(&t, 2);

	if (r < 0)
		return r;
	table_add(t, STYLE_BOLD, "%s", node_name(nodes->nodes[0].path));
	table_end_row(t);
	add_node_lines(t, &nodes->nodes[0]);
	add_guard_lines(t, guards, n_guards);
	return table_print(t, &ctl->out);
}

/* All that is known, for programs. */
static int status_json(struct ctl *ctl)
{
	struct nodes nodes;
	int r = nodes_fetch(ctl, "", &nodes);

	if (r != CTL_DONE)
		return r;
	r = ctl_print_json(ctl, nodes.reply.parameters);
	nodes_done(&nodes);
	return r;
}

static int print_all(struct ctl *ctl, struct nodes_walk *walk, struct list *list)
{
	const struct node_view *node;
	int r;

	while ((r = nodes_walk_next(ctl, walk, &node)) == CTL_DONE && node)
		list_add(list, node);
	if (r != CTL_DONE)
		return r;
	r = table_print(list->table, &ctl->out);
	if (r < 0)
		return ctl_fail(ctl, r);
	list_print_summary(ctl, list);
	return CTL_DONE;
}

static int status_all(struct ctl *ctl)
{
	struct nodes_walk walk;
	struct list list;
	int r = nodes_walk(ctl, "", &walk);

	if (r != CTL_DONE)
		return r;
	if (!ctl->options.quiet) {
		r = list_new(&list);
		r = r < 0 ? ctl_fail(ctl, r) : print_all(ctl, &walk, &list);
		list_done(&list);
	}
	nodes_walk_done(&walk);
	return r;
}

static int print_below(struct ctl *ctl, const struct node_view *nodes, size_t n)
{
	struct list list;
	int r = list_new(&list);

	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		list_add(&list, &nodes[i]);
	r = table_print(list.table, &ctl->out);
	list_done(&list);
	return r;
}

static int show_page(struct ctl *ctl, const struct nodes *nodes, const json_t *parameters)
{
	cleanup(freep) struct guard_view *guards = NULL;
	size_t n = 0;
	int r;

	r = guard_view_parse_array(parameters, "guards", &guards, &n);
	if (r < 0)
		return r;
	r = print_page(ctl, nodes, guards, n);
	if (r < 0 || nodes->n == 1)
		return r;
	ctl_say(ctl, "\n");
	return print_below(ctl, nodes->nodes + 1, nodes->n - 1);
}

static int status_page(struct ctl *ctl, const struct nodes *nodes, const char *path)
{
	struct message_reply reply;
	int r = session_call(ctl, METHOD_GUARDS, json_pack("{s:s}", "node", path), &reply);

	if (r != CTL_DONE)
		return r;
	r = nodes->n ? show_page(ctl, nodes, reply.parameters) : -EBADMSG;
	message_reply_done(&reply);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

static int status_one(struct ctl *ctl, const char *path, json_t *all)
{
	struct nodes nodes;
	int r = nodes_fetch(ctl, path, &nodes);

	if (r != CTL_DONE)
		return r;
	if (ctl->options.json) {
		if (json_array_extend(all, json_object_get(nodes.reply.parameters, "nodes")) < 0)
			r = ctl_fail(ctl, -ENOMEM);
	} else if (!ctl->options.quiet) {
		r = status_page(ctl, &nodes, path);
	}
	nodes_done(&nodes);
	return r;
}

static int status_some(struct ctl *ctl, char **paths)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "nodes");

	for (size_t i = 0; paths[i]; i++) {
		int r;

		if (i)
			ctl_say(ctl, "\n");
		r = status_one(ctl, paths[i], json_object_get(all, "nodes"));
		if (r != CTL_DONE)
			return r;
	}
	return ctl->options.json ? ctl_print_json(ctl, all) : CTL_DONE;
}

int cmd_status(struct ctl *ctl, int argc, char **argv)
{
	cleanup(freep) char **paths = NULL;
	int r;

	if (argc == 0)
		return ctl->options.json ? status_json(ctl) : status_all(ctl);
	r = nodes_resolve(ctl, argv, (size_t)argc, &paths);
	return r == CTL_DONE ? status_some(ctl, paths) : r;
}
