#include "ctl/commands/cmd.h"

#include "ctl/session/offline.h"

int cmd_check(struct ctl *ctl, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *all =
		ctl->options.json ? json_pack("{s:[], s:[]}", "errors", "warnings") : NULL;
	cleanup(config_unrefp) struct config *config = NULL;
	const char *const *paths = (const char *const *)argv;
	size_t n_paths = argc > 0 ? (size_t)argc : config_default_paths(&paths), warnings = 0;
	int r = offline_load(ctl, paths, n_paths, all, &warnings, &config);
	char nodes[SHOW_COUNT_MAX], services[SHOW_COUNT_MAX], files[4096];
	struct words w = words_in(files, sizeof(files));
	size_t n = 0;

	if (all && (r == CTL_DONE || r == CTL_CONFIG) && ctl_print_json(ctl, all) != CTL_DONE)
		return CTL_FAILED;
	if (r != CTL_DONE)
		return r;
	if (ctl->options.strict && warnings > 0)
		return CTL_CONFIG;
	for (size_t i = 0; i < config->n_nodes; i++)
		n += config->nodes[i]->argv != NULL;
	for (size_t i = 0; i < n_paths; i++)
		words_add(&w, " ", "%s", paths[i]);
	ctl_print(ctl, "%s: ok, %s, %s", files, show_count(nodes, config->n_nodes, "node"),
		  show_count(services, n, "service"));
	return CTL_DONE;
}
