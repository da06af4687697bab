#include "ctl/commands/cmd.h"

/* Runs a command as a service of the daemon, in the daemon's environment. */

static json_t *run_json_strings(const char *const *words, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		(void)json_array_append_new(array, message_string(words[i]));
	return array;
}

int cmd_run(struct ctl *ctl, int argc, char **argv)
{
	const struct options *o = &ctl->options;
	cleanup(message_reply_done) struct message_reply reply = {};
	const json_t *status;
	int r;

	ctl->ongoing = (struct ongoing){ .what = "run", .node = argv[0], .until = "complete" };
	r = session_show(
		ctl, METHOD_RUN,
		json_pack("{s:o, s:o, s:o, s:b, s:b}", "node", message_string(argv[0]), "command",
			  run_json_strings((const char *const *)argv + 1, (size_t)argc - 1),
			  "properties", run_json_strings(o->properties.words, o->properties.n),
			  "keep", o->keep, "wait", o->wait),
		&reply);
	if (r != CTL_DONE)
		return r == CTL_STOPPED ? CTL_FAILED : r;
	status = json_object_get(reply.parameters, "status");
	ctl_print(ctl, "%s: %s", argv[0],
		  json_is_integer(status) ? message_get_text(reply.parameters, "result") : "begun");
	return (int)json_integer_value(status) & 0xff;
}
