#include "ctl/commands/cmd.h"

/*
 * A shutdown as a stream of replies, each with all guards that are still waited for.  On a terminal
 * they are a table that is drawn anew; otherwise a line is printed when they change.
 */

#include "ctl/session/forced-kills.h"
#include "ctl/session/progress.h"

#define LINE_GUARDS_MAX 5 /* named in a line; the rest are counted */

static bool shutdown_has_same_guards(const struct progress *a, const struct progress *b)
{
	if (a->n != b->n || a->node.state != b->node.state || a->node.forced != b->node.forced)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->guards[i].id != b->guards[i].id || !a->guards[i].why != !b->guards[i].why)
			return false;
	return true;
}

static void shutdown_print_progress(struct ctl *ctl, const struct progress *p)
{
	char text[(LINE_GUARDS_MAX + 1) * 2 * SHOW_NOTE_MAX];
	struct words w = words_in(text, sizeof(text));

	progress_describe(&w, p, 0);
	for (size_t i = 0; i < p->n && i < LINE_GUARDS_MAX; i++) {
		const struct guard_view *g = &p->guards[i];
		char holder[SHOW_NOTE_MAX], age[CLOCK_TEXT_MAX], kill_text[SHOW_KILL_MAX];

		words_add(&w, i ? ", " : ": ", "%s (%s, for %s%s%s)", node_name(g->node),
			  show_holder(holder, g), clock_text(age, g->age_usec),
			  g->kill_usec == FIELD_NONE ? "" : ", ",
			  show_kill(kill_text, g->kill_usec));
	}
	if (p->n > LINE_GUARDS_MAX)
		words_add(&w, " and ", "%zu more", p->n - LINE_GUARDS_MAX);
	ctl_print(ctl, "%s", text);
}

/* @before was shown last.  Return: 0, -errno, or the exit status of a logged error. */
static int shutdown_show_progress(struct ctl *ctl, const struct progress *p,
				  const struct progress *before)
{
	if (ctl->options.json)
		return ctl_print_json(ctl, p->reply.parameters);
	if (ctl->options.quiet || p->node.state == NODE_COMPLETE)
		return 0;
	if (progress_is_drawn(ctl))
		return progress_redraw(ctl, p);
	if (!shutdown_has_same_guards(p, before))
		shutdown_print_progress(ctl, p);
	return 0;
}

/* The node is gone, so it was Complete before. */
static int shutdown_end_without_node(struct ctl *ctl, struct progress *last, struct progress *p,
				     bool begun)
{
	int r = begun || last->reply.root ? 0 : -EBADMSG;

	screen_wipe(&ctl->out);
	last->node.state = NODE_COMPLETE;
	last->node.forced |= forced_kills_print(ctl, p->reply.parameters);
	if (r == 0 && ctl->options.json)
		r = ctl_print_json(ctl, p->reply.parameters);
	progress_done(p);
	return r;
}

/* Reads and shows replies until the last one; @begun: the first one may be the last. */
static int shutdown_follow_progress(struct ctl *ctl, const char *path, bool begun)
{
	struct progress last = {}, p;
	int r;

	do {
		r = progress_receive(ctl, &last, &p);
		if (r != 0)
			break;
		if (!p.node.path) {
			r = shutdown_end_without_node(ctl, &last, &p, begun);
			break;
		}
		r = shutdown_show_progress(ctl, &p, &last);
		progress_done(&last);
		last = p;
	} while (r == 0 && last.reply.continues);

	/* The daemon ends with the root, perhaps before its last reply. */
	if (r == -ECONNRESET && !*path && last.reply.root && last.node.state != NODE_RUNNING)
		r = 0;
	if (r == 0) {
		char elapsed[CLOCK_TEXT_MAX];

		screen_wipe(&ctl->out);
		(void)forced_kills_print(ctl, last.reply.parameters);
		if (last.node.state == NODE_COMPLETE)
			ctl_print(ctl, "%s: complete in %s%s", node_name(path),
				  clock_text(elapsed, last.elapsed_usec),
				  last.node.forced ? ", forced" : "");
		else
			ctl_print(ctl, "%s: complete, the daemon has ended", node_name(path));
		/* Work was lost without --force. */
		if (last.node.forced && !ctl->options.force)
			r = CTL_FAILED;
	}
	progress_done(&last);
	return r < 0 ? ctl_fail(ctl, r) : r;
}

static json_t *shutdown_parameters_of(const struct ctl *ctl, const char *path, bool wait)
{
	const char *reason = ctl->options.reason;
	const uint64_t usec = MIN(ctl->options.grace_usec, ctl->options.within_usec);

	return json_pack("{s:s, s:b, s:b, s:o*, s:o*}", "node", path, "wait", wait, "force",
			 ctl->options.force, "reason", reason ? message_string(reason) : NULL,
			 "grace_usec", message_number(usec));
}

/* --extend, --hold, --release */
static int shutdown_change_times(struct ctl *ctl, const char *path)
{
	cleanup(message_reply_done) struct message_reply reply = {};
	const struct options *o = &ctl->options;
	char text[SHOW_KILL_MAX];
	struct node_view node;
	int r = session_show(ctl, METHOD_SHUTDOWN,
			     json_pack("{s:s, s:o*, s:o*}", "node", path, "extend_usec",
				       message_number(o->extend_usec), "hold",
				       o->hold || o->release ? json_boolean(o->hold) : NULL),
			     &reply);

	if (r != CTL_DONE || o->json)
		return r;
	r = node_view_parse(json_object_get(reply.parameters, "node"), &node);
	if (r < 0)
		return ctl_fail(ctl, r);
	ctl_print(ctl, "%s: %s", node_name(path),
		  o->hold ? "on hold, until swansongctl shutdown --release"
			  : show_kill(text, show_kill_usec(&node)));
	return CTL_DONE;
}

/* Begins a shutdown without waiting for its end. */
static int shutdown_begin(struct ctl *ctl, const char *path)
{
	cleanup(message_reply_done) struct message_reply reply = {};
	int r = session_show(ctl, METHOD_SHUTDOWN, shutdown_parameters_of(ctl, path, false),
			     &reply);

	if (r == CTL_DONE)
		ctl_print(ctl, "%s: shutting down", node_name(path));
	return r;
}

int cmd_shutdown(struct ctl *ctl, int argc, char **argv)
{
	bool several = argc > 1;
	int r = CTL_DONE;

	if (ctl->options.hold && ctl->options.release)
		return ctl_refuse(ctl, CTL_USAGE, "--hold and --release: expected one of them");
	if (ctl->options.extend_usec != UINT64_MAX || ctl->options.hold || ctl->options.release) {
		for (size_t i = 0; r == CTL_DONE && argv[i]; i++)
			r = shutdown_change_times(ctl, argv[i]);
		return r;
	}
	/* Several are stopped all at once, and then waited for in turn. */
	for (size_t i = 0; (several || ctl->options.no_wait) && r == CTL_DONE && argv[i]; i++)
		r = shutdown_begin(ctl, argv[i]);
	for (size_t i = 0; !ctl->options.no_wait && r == CTL_DONE && argv[i]; i++) {
		ctl->ongoing = (struct ongoing){ "shutdown", argv[i], "complete" };
		r = session_send(ctl, METHOD_SHUTDOWN, shutdown_parameters_of(ctl, argv[i], true),
				 MESSAGE_MORE);
		if (r == CTL_DONE)
			r = shutdown_follow_progress(ctl, argv[i], several);
	}
	return r;
}
