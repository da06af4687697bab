/*
 * The command makes one call of Events with "more": the daemon sends replies until the command is
 * interrupted.  A reply may begin with a number of events that the daemon has dropped, as this
 * client read too slowly; it is printed as a line of its own.
 */
#include "ctl/commands/cmd.h"

/* "12:00:01.234 web/nginx: up -> stopping (hold), asked by pid 812, uid 0" */
static void events_print_one(struct ctl *ctl, const json_t *event)
{
	uint64_t usec = (uint64_t)json_integer_value(json_object_get(event, "time_usec"));
	const char *kind = message_get_text(event, "kind"),
		   *reason = message_get_text(event, "reason"),
		   *cause = message_get_text(event, "cause");
	time_t seconds = (time_t)(usec / USEC_PER_SEC);
	char clock[16];
	struct tm tm;

	(void)strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&seconds, &tm));
	ctl_print(ctl, "%s.%03u %s: %s%s -> %s%s%s%s%s%s", clock,
		  (unsigned)(usec % USEC_PER_SEC / USEC_PER_MSEC),
		  strcmp(kind, "rollout") == 0 ? "rollout"
					       : node_name(message_get_text(event, "node")),
		  strcmp(kind, "outage") == 0  ? "outage "
		  : strcmp(kind, "alert") == 0 ? "alert"
					       : "",
		  message_get_text(event, "from"), message_get_text(event, "to"),
		  *reason ? " (" : "", reason, *reason ? ")" : "", *cause ? ", " : "", cause);
}

static int events_print(struct ctl *ctl, const json_t *parameters)
{
	json_int_t lost = json_integer_value(json_object_get(parameters, "lost"));
	cleanup(json_decrefp) json_t *loss = json_pack("{s:I}", "lost", lost);
	const json_t *events = json_object_get(parameters, "events");
	int r = CTL_DONE;

	if (lost > 0 && ctl->options.json)
		r = ctl_print_json(ctl, loss);
	else if (lost > 0)
		ctl_print(ctl, "... %" JSON_INTEGER_FORMAT " lost", lost);
	for (size_t i = 0; r == CTL_DONE && i < json_array_size(events); i++) {
		const json_t *event = json_array_get(events, i);

		if (ctl->options.json)
			r = ctl_print_json(ctl, event);
		else
			events_print_one(ctl, event);
	}
	return r;
}

int cmd_events(struct ctl *ctl, int argc, char **argv)
{
	bool continues = true;
	int r;

	if (argc > 1)
		return ctl_refuse(
			ctl, CTL_USAGE,
			"events: expected one node, which stands for the nodes below it, too");
	r = session_send(ctl, METHOD_EVENTS,
			 json_pack("{s:s, s:o*}", "node", argv[0], "last",
				   message_number(ctl->options.last)),
			 ctl->options.no_wait ? 0 : MESSAGE_MORE);
	if (r == CTL_DONE)
		client_set_output(ctl->client, fileno(ctl->out.file));
	while (r == CTL_DONE && continues) {
		struct message_reply reply;

		r = session_receive(ctl, &reply);
		if (r != CTL_DONE)
			break;
		continues = reply.continues;
		r = events_print(ctl, reply.parameters);
		message_reply_done(&reply);
		if (ferror(ctl->out.file))
			r = CTL_FAILED;
	}
	return r;
}
