#include "ctl/cmd.h"

/*
 * A shutdown as a stream of replies, each with all guards that are still waited for.  On a terminal
 * they are a table that is drawn anew; otherwise a line is printed when they are other ones.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "ctl/losses.h"
#include "ctl/nodes.h"
#include "ctl/progress.h"
#include "ctl/show.h"

#define LINE_GUARDS_MAX 5 /* named in a line; the rest are counted */

static bool same_guards(const struct progress *a, const struct progress *b)
{
	if (a->n != b->n || a->node.state != b->node.state || a->node.forced != b->node.forced)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->guards[i].id != b->guards[i].id || !a->guards[i].why != !b->guards[i].why)
			return false;
	return true;
}

static void print_line(struct ctl *ctl, const struct progress *p)
{
	char head[1024], holder[SHOW_NOTE_MAX], text[4 * 1024];

	progress_describe(head, sizeof(head), p, 0);
	ctl_say(ctl, "%s", text_escape(text, sizeof(text), head));
	for (size_t i = 0; i < p->n && i < LINE_GUARDS_MAX; i++) {
		const struct guard_view *g = &p->guards[i];
		char one[SHOW_NOTE_MAX + 512], age[CLOCK_TEXT_MAX], kill_text[SHOW_KILL_MAX];

		(void)snprintf(one, sizeof(one), "%s (%s, for %s%s%s)", node_name(g->node),
			       show_holder(holder, g), clock_text(age, g->age_usec),
			       g->kill_usec == FIELD_NONE ? "" : ", ",
			       show_kill(kill_text, g->kill_usec));
		ctl_say(ctl, "%s%s", i ? ", " : ": ", text_escape(text, sizeof(text), one));
	}
	if (p->n > LINE_GUARDS_MAX)
		ctl_say(ctl, " and %zu more", p->n - LINE_GUARDS_MAX);
	ctl_say(ctl, "\n");
}

/* @before is what was shown last.  Return: 0, -errno, or the exit status for what was said. */
static int show_progress(struct ctl *ctl, const struct progress *p, const struct progress *before)
{
	if (ctl->options.json)
		return ctl_print_json(ctl, p->reply.parameters);
	if (ctl->options.quiet || p->node.state == NODE_COMPLETE)
		return 0;
	if (progress_is_drawn(ctl))
		return progress_redraw(ctl, p);
	if (!same_guards(p, before))
		print_line(ctl, p);
	return 0;
}

static void say_end(struct ctl *ctl, const char *path, const struct progress *p)
{
	char elapsed[CLOCK_TEXT_MAX], name[1024];

	screen_wipe(&ctl->out);
	(void)losses_say(ctl, p->reply.parameters);
	text_escape(name, sizeof(name), node_name(path));
	clock_text(elapsed, p->elapsed_usec);
	if (p->node.state == NODE_COMPLETE)
		ctl_say(ctl, "%s: complete in %s%s\n", name, elapsed,
			p->node.forced ? ", forced" : "");
	else
		ctl_say(ctl, "%s: complete, the daemon has ended\n", name);
}

/* The node is gone, and was Complete before: there is nothing to be said of it in the end. */
static int end_without_node(struct ctl *ctl, struct progress *last, struct progress *p, bool begun)
{
	int r = begun || last->reply.root ? 0 : -EBADMSG;

	screen_wipe(&ctl->out);
	last->node.state = NODE_COMPLETE;
	last->node.forced |= losses_say(ctl, p->reply.parameters);
	if (r == 0 && ctl->options.json)
		r = ctl_print_json(ctl, p->reply.parameters);
	progress_done(p);
	return r;
}

/* Reads and shows replies until the last one; @begun: the first may be that. */
static int follow(struct ctl *ctl, const char *path, bool begun)
{
	struct progress last = {}, p;
	int r;

	do {
		r = progress_receive(ctl, &last, &p);
		if (r != 0)
			break;
		if (!p.node.path) {
			r = end_without_node(ctl, &last, &p, begun);
			break;
		}
		r = show_progress(ctl, &p, &last);
		progress_done(&last);
		last = p;
	} while (r == 0 && last.reply.continues);

	/* The daemon ends with the root, and need not live to say so. */
	if (r == -ECONNRESET && !*path && last.reply.root && last.node.state != NODE_RUNNING)
		r = 0;
	if (r == 0) {
		say_end(ctl, path, &last);
		/* Work was lost, and nobody here has asked for that. */
		if (last.node.forced && !ctl->options.force)
			r = CTL_FAILED;
	}
	progress_done(&last);
	return r < 0 ? ctl_fail(ctl, r) : r;
}

static json_t *parameters_of(const struct ctl *ctl, const char *path, bool wait)
{
	const char *reason = ctl->options.reason;

	return json_pack("{s:s, s:b, s:b, s:o*}", "node", path, "wait", wait, "force",
			 ctl->options.force, "reason", reason ? message_string(reason) : NULL);
}

/* One reply, at once. */
static int begin(struct ctl *ctl, const char *path)
{
	struct message_reply reply;
	int r = session_call(ctl, METHOD_SHUTDOWN, parameters_of(ctl, path, false), &reply);
	char name[1024];

	if (r != CTL_DONE)
		return r;
	if (ctl->options.json)
		r = ctl_print_json(ctl, reply.parameters);
	ctl_say(ctl, "%s: shutting down\n", text_escape(name, sizeof(name), node_name(path)));
	message_reply_done(&reply);
	return r;
}

static int complete(struct ctl *ctl, const char *path, bool begun)
{
	int r = session_open(ctl);

	ctl->ongoing = (struct ongoing){ .what = "shutdown", .node = path, .until = "complete" };
	if (r == CTL_DONE)
		r = session_send(ctl, METHOD_SHUTDOWN, parameters_of(ctl, path, true),
				 MESSAGE_MORE);
	return r == CTL_DONE ? follow(ctl, path, begun) : r;
}

int cmd_shutdown(struct ctl *ctl, int argc, char **argv)
{
	cleanup(freep) char **paths = NULL;
	int r = nodes_resolve(ctl, argv, (size_t)argc, &paths);

	if (r != CTL_DONE)
		return r;
	/* Several are stopped all at once, and then waited for in turn. */
	if (ctl->options.no_wait || paths[1])
		for (size_t i = 0; r == CTL_DONE && paths[i]; i++)
			r = begin(ctl, paths[i]);
	if (!ctl->options.no_wait)
		for (size_t i = 0; r == CTL_DONE && paths[i]; i++)
			r = complete(ctl, paths[i], paths[1]);
	return r;
}
