/*
 * A reply has "forced" and "losses", also if it is an error.  Those of several replies are collected into
 * one object for --json.
 */
#include "ctl/session/forced-kills.h"

#define LISTED_MAX 8 /* the others are counted */

bool forced_kills_print(struct ctl *ctl, const json_t *parameters)
{
	const json_t *losses = json_object_get(parameters, "losses");
	size_t n = ctl->options.json ? 0 : json_array_size(losses);

	if (!message_get_bool(parameters, "forced", false))
		return false;
	for (size_t i = 0; i < n && i < LISTED_MAX; i++) {
		const json_t *loss = json_array_get(losses, i);

		log_line(&ctl->log, LOG_WARNING, "%s: %s",
			 node_name(message_get_text(loss, "node")), message_get_text(loss, "what"));
	}
	if (n > LISTED_MAX)
		log_line(&ctl->log, LOG_WARNING, "and %zu more, which are in the log of the daemon",
			 n - LISTED_MAX);
	return true;
}

/* Adds the array @name of @from to that of @all. */
static void forced_kills_extend(json_t *all, const json_t *from, const char *name)
{
	if (!json_object_get(all, name))
		(void)json_object_set_new(all, name, json_array());
	(void)json_array_extend(json_object_get(all, name), json_object_get(from, name));
}

void forced_kills_collect(json_t *all, const json_t *parameters)
{
	if (json_array_size(json_object_get(parameters, "with")) > 0)
		forced_kills_extend(all, parameters, "with");
	if (!message_get_bool(parameters, "forced", false))
		return;
	(void)json_object_set_new(all, "forced", json_true());
	forced_kills_extend(all, parameters, "losses");
}

int session_do_with_losses(struct ctl *ctl, enum interface_method method, json_t *parameters,
			   json_t *losses)
{
	cleanup(message_reply_done) struct message_reply reply = {};
	int r = session_ask(ctl, method, parameters, &reply);
	const json_t *path;
	size_t i;

	if (r != CTL_DONE)
		return r;
	if (reply.error) {
		(void)forced_kills_print(ctl, reply.parameters);
		return session_refused(ctl, &reply);
	}
	json_array_foreach (json_object_get(reply.parameters, "with"), i, path)
		ctl_print(ctl, "%s: %s with %s, which it requires",
			  json_string_value(path) ? json_string_value(path) : "-",
			  ctl->options.no_wait ? "stops" : "stopped", node_name(ctl->ongoing.node));
	forced_kills_collect(losses, reply.parameters);
	return CTL_DONE;
}
