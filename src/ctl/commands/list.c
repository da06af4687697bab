#include "ctl/commands/cmd.h"

int cmd_list(struct ctl *ctl, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "nodes");
	json_t *names = json_object_get(all, "nodes"), *name;
	size_t index;
	int r = CTL_DONE;

	for (size_t i = 0; r == CTL_DONE && argv[i]; i++) {
		cleanup(nodes_done) struct nodes nodes = {};

		r = nodes_fetch(ctl, argv[i], false, &nodes);
		for (size_t k = 0; k < nodes.n; k++) {
			const char *path = nodes.nodes[k].path;

			/* As every command takes them. */
			(void)json_array_append_new(names, json_string(*path ? path : "/"));
		}
	}
	if (r != CTL_DONE)
		return r;
	if (ctl->options.json)
		return ctl_print_json(ctl, all);
	json_array_foreach (names, index, name)
		ctl_print(ctl, "%s", json_string_value(name));
	return CTL_DONE;
}
