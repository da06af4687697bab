#include "ctl/session/offline.h"

#include <errno.h>
#include <string.h>

#include "ctl/session/machine-check.h"
#include "sys/spawn/ids.h"

struct sink {
	struct ctl *ctl;
	json_t *all;
	bool failed;
};

static void offline_add_message(enum diag_level level, const char *text, void *arg)
{
	struct sink *sink = arg;

	if (sink->all) {
		const char *name = level == DIAG_ERROR ? "errors" : "warnings";
		json_t *array = json_object_get(sink->all, name);

		sink->failed |= json_array_append_new(array, message_string(text)) < 0;
		return;
	}
	if (level == DIAG_WARNING && sink->ctl->options.quiet)
		return;
	if (level == DIAG_WARNING)
		(void)fputs("warning: ", stderr);
	ctl_print_error(text);
}

int offline_load(struct ctl *ctl, const char *const *paths, size_t n_paths, json_t *all,
		 size_t *warnings, struct config **ret)
{
	const struct config_names names = { ids_user, ids_group, ctl->options.trust };
	cleanup(diag_freep) struct diag *diag = NULL;
	struct sink sink = { .ctl = ctl, .all = all };
	int r = diag_new(&diag);

	if (r == 0)
		r = config_load(ret, paths, n_paths, &names, diag);
	if (r == 0 && warnings) {
		machine_check(*ret, diag);
		*warnings = diag_warnings(diag);
		r = diag_errors(diag) > 0 ? -EINVAL : 0;
	}
	if (diag)
		diag_each(diag, offline_add_message, &sink);
	if (sink.failed)
		r = -ENOMEM;
	return r == -EINVAL ? CTL_CONFIG : r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}

const struct node_config *offline_find(const struct config *config, const char *name)
{
	if (strcmp(name, "/") == 0 || strcmp(name, CONFIG_ROOT_NAME) == 0)
		return config->nodes[0];
	return config_find(config, name);
}
