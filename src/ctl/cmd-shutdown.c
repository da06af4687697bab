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
#include "ctl/nodes.h"
#include "ctl/show.h"

#define TICK_USEC	USEC_PER_SEC
#define LINE_GUARDS_MAX 5 /* named in a line; the rest are counted */

struct progress {
	struct message_reply reply; /* the last one, which all below belongs to */
	struct node_view node;
	struct guard_view *guards;
	size_t n;
	uint64_t elapsed_usec;
	uint64_t received_usec; /* all times above are as of then */
};

static void progress_done(struct progress *p)
{
	free(p->guards);
	message_reply_done(&p->reply);
	*p = (struct progress){};
}

/* Takes the reply over.  Return: 0; -EBADMSG or -ENOMEM. */
static int progress_parse(struct message_reply *reply, struct progress *ret)
{
	static const struct field fields[] = {
		{ .name = "elapsed_usec",
		  .type = FIELD_INT,
		  .offset = offsetof(struct progress, elapsed_usec) },
	};
	struct progress p = { .reply = *reply };
	int r;

	*reply = (struct message_reply){};
	r = node_view_parse(json_object_get(p.reply.parameters, "node"), &p.node);
	if (r == 0)
		r = guard_view_parse_array(p.reply.parameters, "guards", &p.guards, &p.n);
	if (r == 0 && field_read(p.reply.parameters, fields, ARRAY_SIZE(fields), &p))
		r = -EBADMSG;
	if (r < 0) {
		progress_done(&p);
		return r;
	}
	p.received_usec = clock_now_usec();
	*ret = p;
	return 0;
}

static bool same_guards(const struct progress *a, const struct progress *b)
{
	if (a->n != b->n || a->node.state != b->node.state || a->node.forced != b->node.forced)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->guards[i].id != b->guards[i].id || !a->guards[i].why != !b->guards[i].why)
			return false;
	return true;
}

static uint64_t count_guards(const struct progress *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->guards[i].count == FIELD_NONE ? 1 : p->guards[i].count;
	return n;
}

/* "web: shutting down for 12.0s, 3 guards; kill in 18.0s", @since_usec after it was received. */
static void describe(char *buf, size_t size, const struct progress *p, uint64_t since_usec)
{
	char elapsed[CLOCK_TEXT_MAX], kill_in[CLOCK_TEXT_MAX], count[SHOW_COUNT_MAX];
	uint64_t kill_usec = show_kill_usec(&p->node);
	int n = snprintf(buf, size, "%s: shutting down for %s, %s", node_name(p->node.path),
			 clock_text(elapsed, clock_add(p->elapsed_usec, since_usec)),
			 show_count(count, count_guards(p), "guard"));

	if (kill_usec == FIELD_NONE || n < 0 || (size_t)n >= size)
		return;
	kill_usec -= MIN(kill_usec, since_usec);
	(void)snprintf(buf + n, size - (size_t)n, "; kill in %s", clock_text(kill_in, kill_usec));
}

static int redraw(struct ctl *ctl, const struct progress *p)
{
	cleanup(table_freep) struct table *t = NULL;
	char head[1024], holder[SHOW_NOTE_MAX], age[CLOCK_TEXT_MAX];
	uint64_t since_usec = clock_now_usec() - p->received_usec;
	int r = table_new(&t, 4);

	if (r < 0)
		return r;
	for (size_t i = 0; i < p->n; i++) {
		const struct guard_view *g = &p->guards[i];

		table_add(t, STYLE_BUSY, "  %s", node_name(g->node));
		table_add(t, STYLE_PLAIN, "%s", g->kind);
		table_add(t, STYLE_PLAIN, "%s",
			  clock_text(age, clock_add(g->age_usec, since_usec)));
		table_add(t, STYLE_PLAIN, "%s", show_holder(holder, g));
	}
	describe(head, sizeof(head), p, since_usec);
	return screen_redraw(&ctl->out, head, t);
}

static void print_line(struct ctl *ctl, const struct progress *p)
{
	char head[1024], holder[SHOW_NOTE_MAX], text[4 * 1024];

	describe(head, sizeof(head), p, 0);
	ctl_say(ctl, "%s", text_escape(text, sizeof(text), head));
	for (size_t i = 0; i < p->n && i < LINE_GUARDS_MAX; i++) {
		char one[SHOW_NOTE_MAX + 512];

		(void)snprintf(one, sizeof(one), "%s (%s)", node_name(p->guards[i].node),
			       show_holder(holder, &p->guards[i]));
		ctl_say(ctl, "%s%s", i ? ", " : ": ", text_escape(text, sizeof(text), one));
	}
	if (p->n > LINE_GUARDS_MAX)
		ctl_say(ctl, " and %zu more", p->n - LINE_GUARDS_MAX);
	ctl_say(ctl, "\n");
}

static bool is_drawn(const struct ctl *ctl)
{
	return ctl->out.terminal && !ctl->options.quiet && !ctl->options.json;
}

/* @before is what was shown last.  Return: 0, -errno, or the exit status for what was said. */
static int show_progress(struct ctl *ctl, const struct progress *p, const struct progress *before)
{
	if (ctl->options.json)
		return ctl_print_json(ctl, p->reply.parameters);
	if (ctl->options.quiet || p->node.state == NODE_COMPLETE)
		return 0;
	if (is_drawn(ctl))
		return redraw(ctl, p);
	if (!same_guards(p, before))
		print_line(ctl, p);
	return 0;
}

static void say_end(struct ctl *ctl, const char *path, const struct progress *p)
{
	char elapsed[CLOCK_TEXT_MAX], name[1024];

	screen_wipe(&ctl->out);
	text_escape(name, sizeof(name), node_name(path));
	clock_text(elapsed, p->elapsed_usec);
	if (p->node.state == NODE_COMPLETE)
		ctl_say(ctl, "%s: complete in %s%s\n", name, elapsed,
			p->node.forced ? ", forced" : "");
	else
		ctl_say(ctl, "%s: complete, the daemon has ended\n", name);
}

/* The next reply; the times of the last one go on while there is none. */
static int await_reply(struct ctl *ctl, const struct progress *last, struct message_reply *ret)
{
	for (;;) {
		uint64_t now = clock_now_usec(), until = ctl->deadline_usec;
		int r;

		/* However much the daemon has to say. */
		if (now >= until)
			return -ETIMEDOUT;
		if (is_drawn(ctl) && last->reply.root)
			until = MIN(until, now + TICK_USEC);
		r = client_receive(ctl->client, until, ret);
		if (r != -ETIMEDOUT || until == ctl->deadline_usec)
			return r;
		r = redraw(ctl, last);
		if (r < 0)
			return r;
	}
}

/* Return: 0, -errno, or the exit status for what was said. */
static int receive(struct ctl *ctl, const struct progress *last, struct progress *ret)
{
	struct message_reply reply;
	int r = await_reply(ctl, last, &reply);

	if (r < 0)
		return r;
	if (!reply.error)
		return progress_parse(&reply, ret);
	r = session_refused(ctl, &reply);
	message_reply_done(&reply);
	return r;
}

/* Reads and shows replies until the last one. */
static int follow(struct ctl *ctl, const char *path)
{
	struct progress last = {}, p;
	int r;

	do {
		r = receive(ctl, &last, &p);
		if (r != 0)
			break;
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

static int complete(struct ctl *ctl, const char *path)
{
	int r = session_open(ctl);

	ctl->ongoing = (struct ongoing){ .what = "shutdown", .node = path, .until = "complete" };
	if (r == CTL_DONE)
		r = session_send(ctl, METHOD_SHUTDOWN, parameters_of(ctl, path, true),
				 MESSAGE_MORE);
	return r == CTL_DONE ? follow(ctl, path) : r;
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
			r = complete(ctl, paths[i]);
	return r;
}
