/*
 * The history to read is, in this order: the file of --history, the file that the running daemon
 * writes, and the default file if no daemon runs.  The daemon gives its path as a setting.
 */
#include "ctl/history/source.h"

#include <fnmatch.h>

#include "proto/config/settings.h"
#include "proto/history/reader.h"

#define PATH_DEFAULT STATEDIR "/swansong/" HISTORY_NAME

static int source_ask_daemon(struct ctl *ctl, char **path)
{
	cleanup(message_reply_done) struct message_reply reply = {};
	int r = session_call(ctl, METHOD_SHOW, json_pack("{s:s}", "node", CONFIG_ROOT_NAME),
			     &reply);

	if (r != CTL_DONE)
		return r;
	if (history_path(path, settings_find(reply.parameters, "history"),
			 settings_find(reply.parameters, "report")) < 0)
		return ctl_fail(ctl, -ENOMEM);
	if (*path)
		return CTL_DONE;
	return ctl_refuse(
		ctl, CTL_FAILED,
		"the daemon writes no history: set history in [swansong], or name the file by "
		"--history FILE");
}

int source_load(struct ctl *ctl, struct history **ret, char **path)
{
	const char *given = ctl->options.history;
	int r = CTL_DONE;

	if (!given && session_has_daemon(ctl))
		r = source_ask_daemon(ctl, path);
	else if (!(*path = strdup(given ? given : PATH_DEFAULT)))
		r = ctl_fail(ctl, -ENOMEM);
	if (r != CTL_DONE)
		return r;
	r = history_load(ret, *path, HISTORY_SIZE_MAX);
	if (r < 0)
		return ctl_refuse(ctl, CTL_FAILED, "%s: %s", *path,
				  r == -ENOENT ? "no history: set history in [swansong], or name "
						 "the file by --history FILE"
				  : r == -ENOTSUP ? "not a regular file"
						  : strerror(-r));
	if ((*ret)->skipped > 0)
		log_line(&ctl->log, LOG_WARNING, "%s: skipped %" PRIu64 " lines: not of a history",
			 *path, (*ret)->skipped);
	return CTL_DONE;
}

bool source_is_asked_for(const char *node, int argc, char **argv)
{
	bool found = argc == 0;

	for (int i = 0; i < argc && !found; i++)
		found = strcmp(argv[i], "/") == 0 || strcmp(argv[i], "root") == 0 ||
			fnmatch(argv[i], node, FNM_PATHNAME) == 0 || text_is_within(node, argv[i]);
	return found;
}
