#include "ctl/commands/cmd.h"

/*
 * For probes, which need a yes or a no; a person sees the reason as well.  The result is CTL_COMING if every
 * service that is not well comes up by itself, and else CTL_FAILED.
 */

static void health_add_row(struct table *t, const struct node_view *node)
{
	const char *health = node->service.health, *why = node->service.health_result;

	table_add(t, STYLE_BOLD, "%s", node_name(node->path));
	if (node_view_is_healthy(node))
		show_add_state(t, node);
	else if (node->service.ended)
		table_add(t, STYLE_BAD, "ended");
	else
		table_add(t, STYLE_BAD, "%s%s%s",
			  strcmp(health, "unknown") == 0 ? "not known yet" : health,
			  why ? ": " : "", why ? why : "");
}

/* A service that an operator has stopped for maintenance does not count. */
static bool health_is_excused(const struct nodes *nodes, size_t i)
{
	return i > 0 && nodes->nodes[i].is_service && nodes->nodes[i].service.stopped;
}

/* Returns true if the daemon starts the service without a request, or has still to check it. */
static bool health_is_coming_up(const struct node_view *node)
{
	static const char *const states[] = { "down",	  "preparing", "starting", "readying",
					      "cleaning", "finishing", "backoff",  NULL };
	const struct service_view *s = &node->service;

	if (node->restarting)
		return true;
	if (node->state != NODE_RUNNING || s->ended || s->stopped)
		return false;
	return text_is_one_of(s->state, states) || (s->health && strcmp(s->health, "unknown") == 0);
}

static enum exit_status health_status_of(const struct nodes *nodes)
{
	enum exit_status status = CTL_DONE;

	if (nodes->n == 0 || (nodes->nodes[0].state != NODE_RUNNING && !nodes->nodes[0].restarting))
		return CTL_FAILED;
	for (size_t i = 0; i < nodes->n; i++) {
		const struct node_view *node = &nodes->nodes[i];

		if (!node->is_service || node_view_is_well(node) || health_is_excused(nodes, i))
			continue;
		if (!health_is_coming_up(node))
			return CTL_FAILED;
		status = CTL_COMING;
	}
	return status;
}

/* *status is that of the nodes before; it becomes the worse of both. */
static int health_of(struct ctl *ctl, const char *path, enum exit_status *status)
{
	cleanup(nodes_done) struct nodes nodes = {};
	cleanup(table_done) struct table t = {};
	int r = nodes_fetch(ctl, path, false, &nodes);
	enum exit_status here;

	if (r != CTL_DONE)
		return r;
	here = health_status_of(&nodes);
	if (here == CTL_DONE)
		return r;
	if (*status != CTL_FAILED)
		*status = here;
	table_init(&t, 2, NULL);
	for (size_t i = 0; i < nodes.n; i++)
		if (nodes.nodes[i].is_service && !node_view_is_well(&nodes.nodes[i]) &&
		    !health_is_excused(&nodes, i))
			health_add_row(&t, &nodes.nodes[i]);
	return ctl_print_table(ctl, &t);
}

int cmd_health(struct ctl *ctl, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *answer = NULL;
	enum exit_status status = CTL_DONE;
	int r = CTL_DONE;

	for (size_t i = 0; r == CTL_DONE && argv[i]; i++)
		r = health_of(ctl, argv[i], &status);
	answer = json_pack("{s:b}", "healthy", status == CTL_DONE);
	if (r == CTL_DONE && ctl->options.json)
		r = ctl_print_json(ctl, answer);
	else if (r == CTL_DONE && status == CTL_DONE)
		ctl_print(ctl, "healthy");
	return r == CTL_DONE ? (int)status : r;
}
