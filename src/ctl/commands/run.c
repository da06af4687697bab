#include "ctl/commands/cmd.h"

/* Runs a command as a service of the daemon, in the daemon's environment. */

static json_t *run_json_strings(const char *const *words, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		(void)json_array_append_new(array, message_string(words[i]));
	return array;
}

static int run_print_result(struct ctl *ctl, const char *path, const json_t *reply)
{
	const json_t *status = json_object_get(reply, "status");
	const char *result = json_string_value(json_object_get(reply, "result"));

	if (ctl->options.json) {
		int r = ctl_print_json(ctl, reply);

		if (r != CTL_DONE)
			return r;
	}
	ctl_print(ctl, "%s: %s", path, !json_is_integer(status) ? "begun" : result ? result : "");
	return (int)json_integer_value(status) & 0xff;
}

int cmd_run(struct ctl *ctl, int argc, char **argv)
{
	const struct options *o = &ctl->options;
	cleanup(message_reply_done) struct message_reply reply = {};
	int r;

	ctl->ongoing = (struct ongoing){ .what = "run", .node = argv[0], .until = "complete" };
	r = session_call(
		ctl, METHOD_RUN,
		json_pack("{s:o, s:o, s:o, s:b, s:b}", "node", message_string(argv[0]), "command",
			  run_json_strings((const char *const *)argv + 1, (size_t)argc - 1),
			  "properties", run_json_strings(o->properties.words, o->properties.n),
			  "keep", o->keep, "wait", o->wait),
		&reply);
	if (r == CTL_DONE)
		return run_print_result(ctl, argv[0], reply.parameters);
	return r == CTL_STOPPED ? CTL_FAILED : r;
}
