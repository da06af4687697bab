#include "ctl/cmd.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "ctl/nodes.h"

/* Runs a command as a service of the daemon, with the daemon's environment, not with ours. */

static json_t *strings(const char *const *words, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		(void)json_array_append_new(array, message_string(words[i]));
	return array;
}

static int report(struct ctl *ctl, const char *path, const json_t *reply)
{
	const json_t *status = json_object_get(reply, "status");
	const char *result = json_string_value(json_object_get(reply, "result"));
	char node[1024], text[1024];

	if (ctl->options.json) {
		int r = ctl_print_json(ctl, reply);

		if (r != CTL_DONE)
			return r;
	}
	text_escape(node, sizeof(node), path);
	if (!json_is_integer(status)) {
		ctl_say(ctl, "%s: begun\n", node);
		return CTL_DONE;
	}
	ctl_say(ctl, "%s: %s\n", node, text_escape(text, sizeof(text), result ? result : ""));
	return (int)json_integer_value(status) & 0xff;
}

int cmd_run(struct ctl *ctl, int argc, char **argv)
{
	const struct options *o = &ctl->options;
	struct message_reply reply;
	int r;

	ctl->ongoing = (struct ongoing){ .what = "run", .node = argv[0], .until = "complete" };
	r = session_call(ctl, METHOD_RUN,
			 json_pack("{s:o, s:o, s:o, s:b, s:b}", "node", message_string(argv[0]),
				   "command",
				   strings((const char *const *)argv + 1, (size_t)argc - 1),
				   "properties", strings(o->properties, o->n_properties), "keep",
				   o->keep, "wait", o->wait),
			 &reply);
	if (r != CTL_DONE)
		return r == CTL_STOPPED ? CTL_FAILED : r;
	r = report(ctl, argv[0], reply.parameters);
	message_reply_done(&reply);
	return r;
}
