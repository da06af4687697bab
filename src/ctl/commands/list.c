#include "ctl/commands/cmd.h"

#include "ctl/session/nodes.h"

/* Names as every command takes them. */
static int list_below(struct ctl *ctl, const char *path, json_t *names)
{
	const struct node_view *node;
	struct nodes_walk walk;
	int r = nodes_walk(ctl, path, &walk);

	if (r != CTL_DONE)
		return r;
	while ((r = nodes_walk_next(ctl, &walk, &node)) == CTL_DONE && node)
		(void)json_array_append_new(names, json_string(*node->path ? node->path : "/"));
	nodes_walk_done(&walk);
	return r;
}

int cmd_list(struct ctl *ctl, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "nodes");
	json_t *names = json_object_get(all, "nodes"), *name;
	size_t index;
	int r = CTL_DONE;

	for (size_t i = 0; r == CTL_DONE && argv[i]; i++)
		r = list_below(ctl, argv[i], names);
	if (r != CTL_DONE)
		return r;
	if (ctl->options.json)
		return ctl_print_json(ctl, all);
	json_array_foreach (names, index, name)
		ctl_print(ctl, "%s", json_string_value(name));
	return CTL_DONE;
}
