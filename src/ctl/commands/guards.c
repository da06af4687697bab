/*
 * Each node of the command line is one call.  The guards of all replies are collected in one array
 * of JSON, which is printed as it is or as a table.
 */
#include "ctl/commands/cmd.h"

static int guards_print(struct ctl *ctl, const json_t *parameters)
{
	bool with_kill = ctl->options.blocking; /* no other guard has a time */
	const char *const titles[] = {
		"ID", "NODE", "KIND", "AGE", with_kill ? "KILL IN" : "", "HOLDER AND REASON"
	};
	cleanup(freep) struct guard_view *guards = NULL;
	cleanup(table_done) struct table t = {};
	char holder[SHOW_NOTE_MAX], age[CLOCK_TEXT_MAX], kill_in[CLOCK_TEXT_MAX];
	size_t n;
	int r;

	r = guard_view_parse_array(parameters, "guards", &guards, &n);
	if (r < 0)
		return ctl_fail(ctl, r);
	table_init(&t, ARRAY_SIZE(titles), titles);
	for (const struct guard_view *g = guards; g < guards + n; g++) {
		table_add(&t, STYLE_PLAIN, "%" PRIu64, g->id);
		table_add(&t, STYLE_BOLD, "%s", node_name(g->node));
		table_add(&t, STYLE_PLAIN, "%s", g->kind);
		table_add(&t, STYLE_PLAIN, "%s", clock_text(age, g->age_usec));
		table_add(&t, STYLE_BUSY, "%s",
			  !with_kill		       ? ""
			  : g->kill_usec == FIELD_NONE ? "-"
						       : clock_text(kill_in, g->kill_usec));
		table_add(&t, STYLE_PLAIN, "%s", show_holder(holder, g));
	}
	return ctl_print_table(ctl, &t);
}

int cmd_guards(struct ctl *ctl, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "guards");
	int r = CTL_DONE;

	/* A guard comes twice if a path is within another one. */
	for (size_t i = 0; r == CTL_DONE && argv[i]; i++) {
		cleanup(message_reply_done) struct message_reply reply = {};

		r = session_call(
			ctl, METHOD_GUARDS,
			json_pack("{s:s, s:b}", "node", argv[i], "blocking", ctl->options.blocking),
			&reply);
		if (r == CTL_DONE &&
		    json_array_extend(json_object_get(all, "guards"),
				      json_object_get(reply.parameters, "guards")) < 0)
			r = ctl_fail(ctl, -EBADMSG);
	}
	if (r != CTL_DONE)
		return r;
	return ctl->options.json ? ctl_print_json(ctl, all) : guards_print(ctl, all);
}
