#include "ctl/commands/cmd.h"

#include <string.h>

#include "ctl/session/nodes.h"
#include "ctl/terminal/show.h"

/* For probes, which need a yes or a no; a person sees the reason as well. */

static void add_row(struct table *t, const struct node_view *node)
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

/* In maintenance: a service that an operator has stopped is not to run. */
static bool is_excused(const struct nodes *nodes, size_t i)
{
	return i > 0 && nodes->nodes[i].is_service && nodes->nodes[i].service.stopped;
}

/* The services that are the reason. */
static int explain(struct ctl *ctl, const struct nodes *nodes)
{
	cleanup(table_done) struct table t;

	table_init(&t, 2, NULL);
	for (size_t i = 0; i < nodes->n; i++)
		if (nodes->nodes[i].is_service && !node_view_is_well(&nodes->nodes[i]) &&
		    !is_excused(nodes, i))
			add_row(&t, &nodes->nodes[i]);
	return table_print(&t, &ctl->out);
}

static bool all_are_well(const struct nodes *nodes)
{
	bool well = nodes->n > 0 && nodes->nodes[0].state == NODE_RUNNING;

	for (size_t i = 0; i < nodes->n; i++)
		if (nodes->nodes[i].is_service)
			well &= node_view_is_well(&nodes->nodes[i]) || is_excused(nodes, i);
	return well;
}

static int health_of(struct ctl *ctl, const char *path, bool *well)
{
	cleanup(nodes_done) struct nodes nodes = {};
	int r = nodes_fetch(ctl, path, &nodes);

	if (r != CTL_DONE || all_are_well(&nodes))
		return r;
	*well = false;
	if (!ctl->options.json && !ctl->options.quiet)
		r = explain(ctl, &nodes);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

int cmd_health(struct ctl *ctl, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *answer = NULL;
	bool well = true;
	int r = CTL_DONE;

	(void)argc;
	for (size_t i = 0; r == CTL_DONE && argv[i]; i++)
		r = health_of(ctl, argv[i], &well);
	answer = json_pack("{s:b}", "healthy", well);
	if (r == CTL_DONE && ctl->options.json)
		r = ctl_print_json(ctl, answer);
	else if (r == CTL_DONE && well)
		ctl_say(ctl, "healthy");
	return r == CTL_DONE && !well ? CTL_FAILED : r;
}
