#include "ctl/cmd.h"

#include "base/text.h"
#include "ctl/nodes.h"

/* Names as they may be said to any other command; they hold nothing that a terminal acts on. */
static int add_names(struct ctl *ctl, struct nodes_walk *walk, json_t *names)
{
	const struct node_view *node;
	int r;

	while ((r = nodes_walk_next(ctl, walk, &node)) == CTL_DONE && node)
		(void)json_array_append_new(names, json_string(*node->path ? node->path : "/"));
	return r;
}

static int list_below(struct ctl *ctl, const char *path, json_t *names)
{
	struct nodes_walk walk;
	int r = nodes_walk(ctl, path, &walk);

	if (r != CTL_DONE)
		return r;
	r = add_names(ctl, &walk, names);
	nodes_walk_done(&walk);
	return r;
}

int cmd_list(struct ctl *ctl, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "nodes");
	json_t *names = json_object_get(all, "nodes");
	cleanup(freep) char **paths = NULL;
	char name[1024];
	int r = nodes_resolve(ctl, argv, (size_t)argc, &paths);

	for (size_t i = 0; r == CTL_DONE && paths[i]; i++)
		r = list_below(ctl, paths[i], names);
	if (r != CTL_DONE)
		return r;
	if (ctl->options.json)
		return ctl_print_json(ctl, all);
	for (size_t i = 0; i < json_array_size(names); i++)
		ctl_say(ctl, "%s\n",
			text_escape(name, sizeof(name),
				    json_string_value(json_array_get(names, i))));
	return CTL_DONE;
}
