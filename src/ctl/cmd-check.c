#include "ctl/cmd.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "ctl/offline.h"
#include "ctl/show.h"

/* Where the diagnostics go: one a line, or into one of two arrays. */
struct sink {
	struct ctl *ctl;
	json_t *errors, *warnings;
	bool failed;
};

static void sink_add(enum diag_level level, const char *text, void *arg)
{
	struct sink *sink = arg;
	json_t *array = level == DIAG_ERROR ? sink->errors : sink->warnings;

	if (sink->ctl->options.json)
		sink->failed |= json_array_append_new(array, message_string(text)) < 0;
	else if (level == DIAG_ERROR || !sink->ctl->options.quiet)
		offline_print(level, text);
}

static int report(struct ctl *ctl, const struct diag *diag)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[], s:[]}", "errors", "warnings");
	struct sink sink = {
		.ctl = ctl,
		.errors = json_object_get(all, "errors"),
		.warnings = json_object_get(all, "warnings"),
	};

	diag_each(diag, sink_add, &sink);
	if (sink.failed)
		return ctl_fail(ctl, -ENOMEM);
	return ctl->options.json ? ctl_print_json(ctl, all) : CTL_DONE;
}

/* "FILE: ok, 5 nodes, 3 services" */
static void say_ok(struct ctl *ctl, char **paths, const struct config *config)
{
	char nodes[SHOW_COUNT_MAX], services[SHOW_COUNT_MAX], path[4096];
	size_t n = 0;

	for (size_t i = 0; i < config->n_nodes; i++)
		n += config->nodes[i]->argv != NULL;
	for (size_t i = 0; paths[i]; i++)
		ctl_say(ctl, "%s%s", i ? " " : "", text_escape(path, sizeof(path), paths[i]));
	ctl_say(ctl, ": ok, %s, %s\n", show_count(nodes, config->n_nodes, "node"),
		show_count(services, n, "service"));
}

int cmd_check(struct ctl *ctl, int argc, char **argv)
{
	cleanup(config_unrefp) struct config *config = NULL;
	cleanup(diag_freep) struct diag *diag = NULL;
	int r, status;

	r = offline_load((const char *const *)argv, (size_t)argc, &config, &diag);
	if (r < 0 && r != -EINVAL)
		return ctl_fail(ctl, r);
	status = report(ctl, diag);
	if (status != CTL_DONE)
		return status;
	if (r < 0)
		return CTL_CONFIG;
	say_ok(ctl, argv, config);
	return CTL_DONE;
}
