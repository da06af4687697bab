#include "ctl/commands/cmd.h"

#include "base/parse.h"
#include "ctl/session/nodes.h"

int cmd_signal(struct ctl *ctl, int argc, char **argv)
{
	const char *scope = ctl->options.scope ? ctl->options.scope : "main";
	cleanup(freep) char **paths = NULL;
	char name[SIGNAL_TEXT_MAX];
	int signo, r;

	if (parse_signal(argv[0], &signo) < 0) {
		log_line(
			&ctl->log, LOG_ERR,
			"invalid signal '%s': expected a name or number, for example SIGUSR1 or 10",
			argv[0]);
		return CTL_USAGE;
	}
	parse_signal_text(name, signo);
	r = nodes_resolve(ctl, argv + 1, (size_t)argc - 1, &paths);
	for (size_t i = 0; r == CTL_DONE && paths[i]; i++) {
		r = session_do(ctl, METHOD_SIGNAL,
			       json_pack("{s:s, s:s, s:s}", "node", paths[i], "signal", argv[0],
					 "scope", scope));
		if (r == CTL_DONE)
			ctl_say(ctl, "%s: sent %s", node_name(paths[i]), name);
	}
	return session_finish(ctl, r);
}
