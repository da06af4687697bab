/*
 * A wait is one call with "more".  Each reply is the whole progress so far; on a terminal it is
 * drawn in place of the last one, and drawn again each second with times that have gone on.
 */
#include "ctl/session/progress.h"

#define TICK_USEC USEC_PER_SEC

void progress_done(struct progress *p)
{
	free(p->guards);
	free(p->pending);
	message_reply_done(&p->reply);
	*p = (struct progress){};
}

DEFINE_FIELD_TABLE(progress, MUST(INT, elapsed_usec), MAY(INT, more_pending))

/* Takes the reply over.  Return: 0; -EBADMSG or -ENOMEM. */
static int progress_take_reply(struct message_reply *reply, struct progress *ret)
{
	cleanup(progress_done) struct progress p = { .reply = *reply, .more_pending = FIELD_NONE };
	const json_t *parameters = reply->parameters;
	int r = 0;

	if (reply->continues || json_object_get(parameters, "node")) {
		r = node_view_parse(json_object_get(parameters, "node"), &p.node);
		if (r == 0)
			r = guard_view_parse_array(parameters, "guards", &p.guards, &p.n);
		if (r == 0 && json_object_get(parameters, "pending"))
			r = node_view_parse_array(parameters, "pending", &p.pending, &p.n_pending);
		if (r == 0)
			r = field_read(parameters, &progress_table, &p);
		p.received_usec = clock_now_usec();
	}
	if (r == 0) {
		*ret = p;
		p = (struct progress){};
	}
	return r;
}

bool progress_is_drawn(const struct ctl *ctl)
{
	return ctl->out.terminal && !ctl->options.quiet && !ctl->options.json;
}

static int progress_await_reply(struct ctl *ctl, const struct progress *last,
				struct message_reply *ret)
{
	for (;;) {
		uint64_t now = clock_now_usec(), until = ctl->deadline_usec;
		int r;

		/* The timeout counts although the daemon keeps sending replies. */
		if (now >= until)
			return -ETIMEDOUT;
		if (progress_is_drawn(ctl) && last->reply.root)
			until = MIN(until, now + TICK_USEC);
		r = client_receive(ctl->client, until, ret);
		if (r != -ETIMEDOUT || until == ctl->deadline_usec)
			return r;
		r = progress_redraw(ctl, last);
		if (r < 0)
			return r;
	}
}

int progress_receive(struct ctl *ctl, const struct progress *last, struct progress *ret)
{
	struct message_reply reply;
	int r = progress_await_reply(ctl, last, &reply);

	if (r < 0)
		return r;
	if (!reply.error)
		return progress_take_reply(&reply, ret);
	screen_wipe(&ctl->out);
	r = session_refused(ctl, &reply);
	message_reply_done(&reply);
	return r;
}

void progress_describe(struct words *w, const struct progress *p, uint64_t since_usec)
{
	char text[CLOCK_TEXT_MAX], count[SHOW_COUNT_MAX];
	uint64_t more = p->more_pending == FIELD_NONE ? 0 : p->more_pending;
	uint64_t kill_usec = show_kill_usec(&p->node);
	/* A wait may begin after the shutdown. */
	uint64_t so_far = p->pending ? p->node.since_usec : p->elapsed_usec, n_guards = 0;

	for (size_t i = 0; i < p->n; i++)
		n_guards += p->guards[i].count == FIELD_NONE ? 1 : p->guards[i].count;
	if (p->node.state == NODE_RUNNING && p->pending) {
		words_add(w, "", "%s: %s, waited for %s", node_name(p->node.path),
			  p->node.ready ? "ready" : "not ready",
			  clock_text(text, clock_add(p->elapsed_usec, since_usec)));
		if (p->n_pending + more > 0)
			words_add(w, ", ", "%s not ready",
				  show_count(count, p->n_pending + more, "service"));
		return;
	}
	words_add(w, "", "%s: %s for %s, %s", node_name(p->node.path),
		  p->node.state == NODE_RUNNING ? "running" : "shutting down",
		  clock_text(text, clock_add(so_far, since_usec)),
		  show_count(count, n_guards, "guard"));
	if (kill_usec != FIELD_NONE)
		words_add(w, "; ", "kill in %s",
			  clock_text(text, kill_usec - MIN(kill_usec, since_usec)));
}

int progress_redraw(struct ctl *ctl, const struct progress *p)
{
	cleanup(table_done) struct table t;
	uint64_t since_usec = clock_now_usec() - p->received_usec;
	char head[1024];
	struct words w = words_in(head, sizeof(head));

	table_init(&t, 5, NULL);
	for (size_t i = 0; i < p->n; i++) {
		const struct guard_view *g = &p->guards[i];
		char holder[SHOW_NOTE_MAX], text[CLOCK_TEXT_MAX], kill_text[SHOW_KILL_MAX];
		uint64_t kill_usec = g->kill_usec;

		if (kill_usec != FIELD_NONE)
			kill_usec -= MIN(kill_usec, since_usec);
		table_add(&t, STYLE_BUSY, "  %s", node_name(g->node));
		table_add(&t, STYLE_PLAIN, "%s", g->kind);
		table_add(&t, STYLE_PLAIN, "%s",
			  clock_text(text, clock_add(g->age_usec, since_usec)));
		table_add(&t, STYLE_PLAIN, "%s", show_kill(kill_text, kill_usec));
		table_add(&t, STYLE_PLAIN, "%s", show_holder(holder, g));
	}
	for (size_t i = 0; i < p->n_pending; i++) {
		const struct node_view *node = &p->pending[i];
		char state[SHOW_STATE_MAX], note[SHOW_NOTE_MAX];
		enum style style;

		show_state(state, node, &style);
		table_add(&t, style, "  %s", node_name(node->path));
		show_add_state(&t, node);
		for (int empty = 0; empty < 2; empty++) /* the columns of age and kill are for guards only */
			table_add(&t, STYLE_PLAIN, "%s", "");
		table_add(&t, STYLE_PLAIN, "%s", show_note(note, node));
	}
	progress_describe(&w, p, since_usec);
	return screen_redraw(&ctl->out, head, &t);
}
