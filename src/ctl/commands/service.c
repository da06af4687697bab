#include "ctl/commands/cmd.h"

#include "ctl/session/forced-kills.h"
#include "model/base/settings.h"
#include "ctl/session/progress.h"

/*
 * A command on several nodes sends the requests for all of them first, and waits afterwards, so that
 * no node waits for another node of the command line that has no request yet.
 */
struct verb {
	enum interface_method method;
	const char *name;  /* of the command: "start" */
	const char *until; /* the state that is waited for: "ready" */
	const char *begun; /* "starting" */
};

static json_t *service_wait_parameters(const char *path, const char *until)
{
	return json_pack("{s:s, s:s}", "node", path, "until", until);
}

/* Calls @method for the verb; @is_awaited: waits for its end, and for --settle. */
static int service_call(struct ctl *ctl, const struct verb *verb, enum interface_method method,
			const char *path, json_t *parameters, bool is_awaited, json_t *losses)
{
	ctl->ongoing = (struct ongoing){ verb->name, path, verb->until };
	if (is_awaited && verb->method != METHOD_STOP && ctl->options.settle_usec > 0)
		(void)json_object_set_new(parameters, "settle_usec",
					  json_integer((json_int_t)ctl->options.settle_usec));
	return session_do_with_losses(ctl, method, parameters, losses);
}

static int service_send_verb(struct ctl *ctl, const struct verb *verb, const char *path, bool wait,
			     json_t *losses)
{
	return service_call(ctl, verb, verb->method, path,
			    json_pack("{s:s, s:b}", "node", path, "wait", wait), wait, losses);
}

static int service_apply_verb(struct ctl *ctl, const struct verb *verb, char **paths, json_t *all)
{
	bool wait = !ctl->options.no_wait, several = paths[0] && paths[1];
	int r = CTL_DONE;

	for (size_t i = 0; several && r == CTL_DONE && paths[i]; i++)
		r = service_send_verb(ctl, verb, paths[i], false, all);
	for (size_t i = 0; r == CTL_DONE && paths[i]; i++) {
		cleanup(json_decrefp) json_t *losses = json_object();

		if (!several)
			r = service_send_verb(ctl, verb, paths[i], wait, losses);
		else if (wait)
			r = service_call(ctl, verb, METHOD_WAIT, paths[i],
					 service_wait_parameters(paths[i], verb->until), true,
					 losses);
		if (r != CTL_DONE)
			break;
		forced_kills_collect(all, losses);
		ctl_print(ctl, "%s: %s%s", node_name(paths[i]), wait ? verb->until : verb->begun,
			  forced_kills_print(ctl, losses) ? ", forced" : "");
	}
	return r;
}

int cmd_verb(struct ctl *ctl, int argc, char **argv)
{
	static const struct verb verbs[] = {
		{ METHOD_START, "start", "ready", "starting" },
		{ METHOD_STOP, "stop", "complete", "stopping" },
		{ METHOD_RESTART, "restart", "ready", "restarting" },
	};
	cleanup(json_decrefp) json_t *losses = json_object();
	const struct verb *verb = verbs;
	int r;

	while (strcmp(verb->name, ctl->command) != 0)
		verb++;
	r = service_apply_verb(ctl, verb, argv, losses);
	if (r == CTL_DONE && ctl->options.json)
		r = ctl_print_json(ctl, losses);
	/* Work was lost, without --force. */
	if (r == CTL_DONE && json_is_true(json_object_get(losses, "forced")))
		return CTL_FAILED;
	/* 75 is for a guard that can be tried again later. */
	return r == CTL_STOPPED ? CTL_FAILED : r;
}

int cmd_enable(struct ctl *ctl, int argc, char **argv)
{
	bool enable = strcmp(ctl->command, "enable") == 0;
	int r = session_do_nodes(ctl, enable ? METHOD_ENABLE : METHOD_DISABLE, argv, json_object(),
				 enable ? "enabled" : "disabled");

	if (r != CTL_DONE || !ctl->options.now)
		return r;
	ctl->command = enable ? "start" : "stop";
	return cmd_verb(ctl, argc, argv);
}

/* Waits on a terminal, and shows the guards and services that are still waited for. */
static int service_await_event(struct ctl *ctl, const char *path, const char *until)
{
	struct progress last = {}, p;
	int r = session_send(ctl, METHOD_WAIT, service_wait_parameters(path, until), MESSAGE_MORE);

	if (r != CTL_DONE)
		return r;
	do {
		r = progress_receive(ctl, &last, &p);
		if (r != 0)
			break;
		progress_done(&last);
		last = p;
		if (last.reply.continues)
			r = progress_redraw(ctl, &last);
	} while (r == 0 && last.reply.continues);
	progress_done(&last);
	screen_wipe(&ctl->out);
	return r < 0 ? ctl_fail(ctl, r) : r;
}

int cmd_wait(struct ctl *ctl, int argc, char **argv)
{
	const char *until = ctl->options.until ? ctl->options.until : "complete";
	int r = CTL_DONE;

	for (size_t i = 0; r == CTL_DONE && argv[i]; i++) {
		r = progress_is_drawn(ctl)
			    ? service_await_event(ctl, argv[i], until)
			    : session_do(ctl, METHOD_WAIT, service_wait_parameters(argv[i], until));
		if (r == CTL_DONE)
			ctl_print(ctl, "%s: %s", node_name(argv[i]), until);
	}
	return session_finish(ctl, r == CTL_STOPPED ? CTL_FAILED : r);
}

int cmd_scale(struct ctl *ctl, int argc, char **argv)
{
	bool by_files = strcmp(argv[1], "default") == 0;
	uint64_t number = UINT64_MAX;
	int r;

	if (!by_files && parse_uint(argv[1], CONFIG_INSTANCES_MAX, &number) < 0)
		return ctl_refuse(ctl, CTL_USAGE,
				  "invalid number '%s': expected a number up to %d, or default",
				  argv[1], CONFIG_INSTANCES_MAX);
	r = session_do(
		ctl, METHOD_SCALE,
		json_pack("{s:s, s:o*}", "template", argv[0], "instances", message_number(number)));
	if (r == CTL_DONE)
		ctl_print(ctl, "%s: instances = %s", argv[0],
			  by_files ? "as in its file" : argv[1]);
	return r;
}

int cmd_signal(struct ctl *ctl, int argc, char **argv)
{
	cleanup(freep) char **paths = NULL;
	char name[SIGNAL_TEXT_MAX], done[SIGNAL_TEXT_MAX + 8];
	int signo, r;

	if (parse_signal(argv[0], &signo) < 0)
		return ctl_refuse(
			ctl, CTL_USAGE,
			"invalid signal '%s': expected a name or number, for example SIGUSR1 or 10",
			argv[0]);
	(void)snprintf(done, sizeof(done), "sent %s", parse_signal_text(name, signo));
	r = nodes_resolve(ctl, argv + 1, (size_t)argc - 1, &paths);
	if (r != CTL_DONE)
		return r;
	return session_do_nodes(ctl, METHOD_SIGNAL, paths,
				json_pack("{s:s, s:s}", "signal", argv[0], "scope",
					  ctl->options.scope ? ctl->options.scope : "main"),
				done);
}
