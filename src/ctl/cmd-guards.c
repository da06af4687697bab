#include "ctl/cmd.h"

#include <errno.h>
#include <inttypes.h>

#include "base/clock.h"
#include "ctl/nodes.h"
#include "ctl/show.h"

static void add_guard(struct table *t, const struct guard_view *g, bool with_kill)
{
	char holder[SHOW_NOTE_MAX], age[CLOCK_TEXT_MAX], kill_in[CLOCK_TEXT_MAX];

	table_add(t, STYLE_PLAIN, "%" PRIu64, g->id);
	table_add(t, STYLE_BOLD, "%s", node_name(g->node));
	table_add(t, STYLE_PLAIN, "%s", g->kind);
	table_add(t, STYLE_PLAIN, "%s", clock_text(age, g->age_usec));
	if (with_kill)
		table_add(t, STYLE_BUSY, "%s",
			  g->kill_usec == FIELD_NONE ? "-" : clock_text(kill_in, g->kill_usec));
	table_add(t, STYLE_PLAIN, "%s", show_holder(holder, g));
}

static int print_guards(struct ctl *ctl, const json_t *parameters)
{
	static const char *const titles[] = { "ID", "NODE", "KIND", "AGE", "WHO AND WHY" };
	static const char *const titles_with_kill[] = {
		"ID", "NODE", "KIND", "AGE", "KILL IN", "WHO AND WHY"
	};
	bool with_kill = ctl->options.blocking; /* nobody else is to be killed */
	cleanup(freep) struct guard_view *guards = NULL;
	cleanup(table_freep) struct table *t = NULL;
	size_t n;
	int r;

	r = guard_view_parse_array(parameters, "guards", &guards, &n);
	if (r < 0)
		return r;
	if (with_kill)
		r = table_new_titled(&t, titles_with_kill, ARRAY_SIZE(titles_with_kill));
	else
		r = table_new_titled(&t, titles, ARRAY_SIZE(titles));
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		add_guard(t, &guards[i], with_kill);
	return n ? table_print(t, &ctl->out) : 0;
}

/* The guards of all @paths in one array; of nested ones twice. */
static int collect(struct ctl *ctl, char **paths, json_t *all)
{
	for (size_t i = 0; paths[i]; i++) {
		struct message_reply reply;
		int r;

		r = session_call(ctl, METHOD_GUARDS,
				 json_pack("{s:s, s:b}", "node", paths[i], "blocking",
					   ctl->options.blocking),
				 &reply);
		if (r != CTL_DONE)
			return r;
		r = json_array_extend(json_object_get(all, "guards"),
				      json_object_get(reply.parameters, "guards"));
		message_reply_done(&reply);
		if (r < 0)
			return ctl_fail(ctl, -EBADMSG);
	}
	return CTL_DONE;
}

int cmd_guards(struct ctl *ctl, int argc, char **argv)
{
	cleanup(json_decrefp) json_t *all = json_pack("{s:[]}", "guards");
	cleanup(freep) char **paths = NULL;
	int r = nodes_resolve(ctl, argv, (size_t)argc, &paths);

	if (r == CTL_DONE)
		r = collect(ctl, paths, all);
	if (r != CTL_DONE)
		return r;
	if (ctl->options.json)
		return ctl_print_json(ctl, all);
	r = ctl->options.quiet ? 0 : print_guards(ctl, all);
	return r < 0 ? ctl_fail(ctl, r) : CTL_DONE;
}
