#include "ctl/cmd.h"

#include <string.h>

#include "ctl/nodes.h"
#include "ctl/show.h"

/* For the probes of others: whoever asks wants a yes or a no, and a person the reason. */

static bool is_healthy(const struct node_view *node)
{
	const char *health = node->service.health;

	return !node->is_service || !health || strcmp(health, "healthy") == 0;
}

/* A node is ready when all in it is that is to run; the services below say why it is not. */
static bool is_well(const struct node_view *node)
{
	return node->state == NODE_RUNNING && node->ready && is_healthy(node);
}

static void add_row(struct table *t, const struct node_view *node)
{
	const char *health = node->service.health, *why = node->service.health_result;
	char state[SHOW_STATE_MAX];
	enum style style;

	show_state(state, node, &style);
	table_add(t, STYLE_BOLD, "%s", node_name(node->path));
	if (is_healthy(node))
		table_add(t, style, "%s", state);
	else
		table_add(t, STYLE_BAD, "%s%s%s",
			  strcmp(health, "unknown") == 0 ? "not known yet" : health,
			  why ? ": " : "", why ? why : "");
	table_end_row(t);
}

/* The services that are the reason. */
static int explain(struct ctl *ctl, const struct nodes *nodes)
{
	cleanup(table_freep) struct table *t = NULL;
	int r = table_new(&t, 2);

	if (r < 0)
		return r;
	for (size_t i = 0; i < nodes->n; i++)
		if (nodes->nodes[i].is_service && !is_well(&nodes->nodes[i]))
			add_row(t, &nodes->nodes[i]);
	return table_print(t, &ctl->out);
}

static bool all_are_well(const struct nodes *nodes)
{
	bool well = nodes->n > 0 && is_well(&nodes->nodes[0]);

	for (size_t i = 0; i < nodes->n; i++)
		well &= is_healthy(&nodes->nodes[i]);
	return well;
}

static int health_of(struct ctl *ctl, const char *path, bool *well)
{
	struct nodes nodes;
	int r = nodes_fetch(ctl, path, &nodes);

	if (r != CTL_DONE)
		return r;
	if (!all_are_well(&nodes)) {
		*well = false;
		if (!ctl->options.json && !ctl->options.quiet)
			r = explain(ctl, &nodes);
	}
	nodes_done(&nodes);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

int cmd_health(struct ctl *ctl, int argc, char **argv)
{
	cleanup(freep) char **paths = NULL;
	bool well = true;
	int r = nodes_resolve(ctl, argv, (size_t)argc, &paths);

	for (size_t i = 0; r == CTL_DONE && paths[i]; i++)
		r = health_of(ctl, paths[i], &well);
	if (r != CTL_DONE)
		return r;
	if (ctl->options.json) {
		cleanup(json_decrefp) json_t *answer = json_pack("{s:b}", "healthy", well);

		r = ctl_print_json(ctl, answer);
		if (r != CTL_DONE)
			return r;
	} else if (well) {
		ctl_say(ctl, "healthy\n");
	}
	return well ? CTL_DONE : CTL_FAILED;
}
