/*
 * An upgrade of the daemon; a reload of the configuration, or of the services of the command line.
 * The reply for the configuration is a list of changes, by node and key; it becomes a table with the
 * time from which each change counts.  A dry run gets the same list.
 */
#include "ctl/commands/cmd.h"

static const char *reload_text_of(const json_t *object, const char *name)
{
	return message_get_string(object, name, "-");
}

/* When the new value of a key counts. */
static const char *reload_effect_of(const json_t *key, const json_t *change)
{
	bool restart = message_get_bool(change, "restart", false),
	     outdated = message_get_bool(change, "outdated", false);
	const char *apply = reload_text_of(key, "apply");

	if (restart && strcmp(reload_text_of(key, "key"), "command") == 0 &&
	    json_is_null(json_object_get(key, "to")))
		return "now: stops the service";
	if (message_get_bool(change, "start", false))
		return "now: starts the service";
	if (strcmp(apply, "live") == 0)
		return "now";
	if (restart && (strcmp(apply, "restart") == 0 || strcmp(apply, "in_place") == 0))
		return "now, by a restart";
	if (strcmp(apply, "in_place") == 0)
		return "now, in place";
	if (strcmp(apply, "restart") == 0 && outdated)
		return "by the rollout, or at the next start";
	if (strcmp(apply, "daemon") == 0)
		return "at the next start of the daemon";
	return "at the next start";
}

static void reload_add_row(struct table *t, enum style style, const char *kind, const char *node,
			   const json_t *key, const char *effect)
{
	table_add(t, style, "%s", kind);
	table_add(t, STYLE_BOLD, "%s", node_name(node));
	table_add(t, STYLE_PLAIN, "%s", key ? reload_text_of(key, "key") : "");
	table_add(t, STYLE_PLAIN, "%s", key ? reload_text_of(key, "from") : "");
	table_add(t, STYLE_PLAIN, "%s", key ? reload_text_of(key, "to") : "");
	table_add(t, STYLE_PLAIN, "%s", effect);
}

static void reload_add_change(struct table *t, const json_t *change)
{
	const json_t *keys = json_object_get(change, "keys");
	bool service = message_get_bool(change, "service", false);
	const char *kind = reload_text_of(change, "kind"), *node = reload_text_of(change, "node");

	if (strcmp(kind, "add") == 0)
		reload_add_row(t, STYLE_GOOD, kind, node, NULL,
			       !service ? ""
			       : message_get_bool(change, "autostart", true)
				       ? "is started"
				       : "waits to be started");
	else if (strcmp(kind, "remove") == 0)
		reload_add_row(t, STYLE_BAD, kind, node, NULL, service ? "is stopped" : "");
	if (json_object_get(change, "because")) {
		/* A node that restarts with one that it requires. */
		cleanup(freep) char *effect = text_format("now, by a restart: it requires %s",
							  reload_text_of(change, "because"));

		reload_add_row(t, STYLE_BUSY, "restart", node, NULL, effect ? effect : "");
	}
	for (size_t i = 0; i < json_array_size(keys); i++) {
		const json_t *key = json_array_get(keys, i);

		reload_add_row(t, STYLE_BUSY, kind, node, key, reload_effect_of(key, change));
	}
}

int reload_print(struct ctl *ctl, const json_t *changes)
{
	cleanup(table_done) struct table t;

	table_init_titles(&t, "CHANGE", "NODE", "KEY", "FROM", "TO", "COUNTS");
	for (size_t i = 0; i < json_array_size(changes); i++)
		reload_add_change(&t, json_array_get(changes, i));
	return ctl_print_table(ctl, &t);
}

static int reload_print_changes(struct ctl *ctl, const json_t *changes)
{
	char text[CLOCK_TEXT_MAX];
	int r = reload_print(ctl, changes);

	if (r != CTL_DONE)
		return r;
	if (ctl->options.dry_run)
		ctl_print(ctl, "%s",
			  json_array_size(changes) > 0 ? "nothing was done: this is a dry run"
						       : "nothing would change");
	else if (ctl->options.confirm_usec != UINT64_MAX)
		ctl_print(ctl, "reloaded: goes back in %s, unless swansongctl confirm comes",
			  clock_text(text, ctl->options.confirm_usec));
	else
		ctl_print(ctl, "reloaded");
	return CTL_DONE;
}

static int reload_configuration(struct ctl *ctl)
{
	cleanup(message_reply_done) struct message_reply reply = {};
	const struct options *o = &ctl->options;
	int r = session_show(ctl, METHOD_RELOAD,
			     json_pack("{s:o*, s:o*, s:o*}", "dry_run",
				       o->dry_run ? json_true() : NULL, "to", message_number(o->to),
				       "confirm_usec", message_number(o->confirm_usec)),
			     &reply);

	return r == CTL_DONE ? reload_print_changes(ctl,
						    json_object_get(reply.parameters, "changes"))
			     : r;
}

int cmd_reload(struct ctl *ctl, int argc, char **argv)
{
	cleanup(freep) char **paths = NULL;
	int r;

	if (argc == 0)
		return reload_configuration(ctl);
	if (ctl->options.dry_run || ctl->options.to != UINT64_MAX ||
	    ctl->options.confirm_usec != UINT64_MAX)
		return ctl_refuse(
			ctl, CTL_USAGE,
			"--dry-run, --to, --confirm: expected no node: for the whole configuration");
	r = nodes_resolve(ctl, argv, (size_t)argc, &paths);
	if (r != CTL_DONE)
		return r;
	return session_do_nodes(ctl, METHOD_RELOAD_SERVICE, paths, json_object(),
				"asked to reload");
}

int cmd_confirm(struct ctl *ctl, int argc, char **argv)
{
	int r = session_do(ctl, METHOD_ROLLOUT, json_pack("{s:s}", "action", "confirm"));

	if (r == CTL_DONE)
		ctl_print(ctl, "confirmed");
	return session_finish(ctl, r);
}

int cmd_changes(struct ctl *ctl, int argc, char **argv)
{
	cleanup(message_reply_done) struct message_reply reply = {};
	int r = session_show(ctl, METHOD_CHANGES, json_object(), &reply);
	const json_t *change;
	size_t i;

	json_array_foreach (json_object_get(reply.parameters, "configurations"), i, change) {
		char text[CLOCK_TEXT_MAX];

		ctl_print(ctl, "%" PRIu64 "  %s  %s", message_get_number(change, "number", 0),
			  clock_utc_text(text, message_get_number(change, "time_usec", 0)),
			  reload_text_of(change, "cause"));
	}
	return r;
}

int cmd_upgrade(struct ctl *ctl, int argc, char **argv)
{
	cleanup(message_reply_done) struct message_reply reply = {};
	bool dry_run = ctl->options.dry_run;
	int r = session_show(ctl, METHOD_UPGRADE, json_pack("{s:b}", "dry_run", dry_run), &reply);

	if (r == CTL_DONE)
		ctl_print(ctl,
			  dry_run ? "%s can take over from %s; nothing was done: this is a dry run"
				  : "upgraded to %s, from %s",
			  reload_text_of(reply.parameters, "version"),
			  reload_text_of(reply.parameters, "from"));
	return r;
}
