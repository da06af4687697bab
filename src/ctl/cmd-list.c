#include "ctl/cmd.h"

#include "base/text.h"
#include "ctl/nodes.h"

/* Names as they may be said to any other command; they hold nothing that a terminal acts on. */
static int list_below(struct ctl *ctl, const char *path, json_t *names)
{
	struct nodes nodes;
	int r = nodes_overview(ctl, path, &nodes);

	if (r != CTL_DONE)
		return r;
	for (size_t i = 0; i < nodes.n; i++)
		(void)json_array_append_new(
			names, json_string(*nodes.nodes[i].path ? nodes.nodes[i].path : "/"));
	nodes_done(&nodes);
	return CTL_DONE;
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
