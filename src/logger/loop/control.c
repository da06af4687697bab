/*
 * Each packet of the daemon is one message.  Messages that change streams take effect at once; a
 * flush, a removal or a stop is kept in logger.flushes, and gets its reply when the lines before
 * it are written.
 */
#include "logger/loop/control.h"

#include "logger/loop/deliver.h"
#include "logger/loop/input.h"
#include "logger/loop/loud.h"
#include "logger/loop/reply.h"

/* Number of messages in a turn, after which services are served. */
#define MESSAGES_AT_ONCE 64

/* A request of the daemon that gets its reply when the lines before it are written or given up. */
struct flush {
	struct list in_flushes;
	uint32_t stream; /* or LOGGER_ALL */
	uint32_t type;	 /* LOGGER_FLUSH, LOGGER_REMOVE or LOGGER_STOP */
	uint64_t cookie;
	struct store_counts before;
};

static void control_refuse(struct logger *l, const struct logger_message *m, int error,
			   const char *text)
{
	struct logger_message reply = {
		.type = LOGGER_REFUSED,
		.stream = m->stream < LOGGER_STREAMS ? m->stream : LOGGER_ALL,
		.cookie = m->cookie,
		.trouble = { .error = error },
	};

	reply_send(l, &reply, text);
}

/* --- streams --- */

static int control_add(struct logger *l, struct logger_packet *p)
{
	const struct logger_message *m = &p->message;
	struct stream *s;
	int r;

	if (m->stream >= LOGGER_STREAMS || l->streams[m->stream])
		return -EEXIST;
	r = stream_new(&s, &l->area, m->stream, take_fd(p->fd));
	if (r < 0)
		return r;
	loud_add(s);
	s->rules_number = m->cookie;
	l->streams[m->stream] = s;
	l->n_used = MAX(l->n_used, m->stream + 1);
	l->area.header->n_used = MAX(l->area.header->n_used, l->n_used);
	r = stream_set_rules(s, &m->rules, p->texts[0], p->texts[1]);
	if (r >= 0)
		r = deliver_attach(l, s);
	if (r >= 0)
		r = input_watch(l, s);
	if (r < 0)
		input_remove(l, s);
	return r;
}

static int control_change(struct logger *l, const struct logger_packet *p, struct stream *s)
{
	int r;

	s->rules_number = p->message.cookie;
	/* Lines until now belong to the file of the old name, which may be gone. */
	(void)stream_take_pipe(s, clock_realtime_usec());
	if (s->rules.to == LOGGER_TO_FILE && strcmp(s->path, p->texts[1]) != 0)
		deliver_reopen(l, s);
	r = stream_set_rules(s, &p->message.rules, p->texts[0], p->texts[1]);
	return r < 0 ? r : deliver_attach(l, s);
}

/* --- flushes --- */

static int control_flush(struct logger *l, const struct logger_message *m)
{
	struct flush *flush, *found = NULL;

	/* A service that fails again and again is flushed each time, also while its disk hangs. */
	list_for_each (flush, &l->flushes, in_flushes)
		if (flush->type == m->type && flush->stream == m->stream)
			found = flush;
	if (!found) {
		found = calloc(1, sizeof(*found));
		if (!found)
			return -ENOMEM;
		found->stream = m->stream;
		found->type = m->type;
		if (m->stream != LOGGER_ALL)
			store_count(l->streams[m->stream]->record, &found->before);
		list_append(&l->flushes, &found->in_flushes);
	}
	found->cookie = m->cookie;
	if (m->stream != LOGGER_ALL)
		input_take_all(l, l->streams[m->stream]);
	for (uint32_t i = 0; m->stream == LOGGER_ALL && i < l->n_used; i++)
		if (l->streams[i])
			input_take_all(l, l->streams[i]);
	return 0;
}

static bool control_is_flush_done(const struct logger *l, const struct flush *flush)
{
	if (flush->stream != LOGGER_ALL)
		return !l->streams[flush->stream] || deliver_is_flushed(l->streams[flush->stream]);
	for (uint32_t i = 0; i < l->n_used; i++)
		if (l->streams[i] && !deliver_is_flushed(l->streams[i]))
			return false;
	return true;
}

static void control_reply_flush(struct logger *l, const struct flush *flush)
{
	struct stream *s = flush->stream == LOGGER_ALL ? NULL : l->streams[flush->stream];
	struct logger_message reply = {
		.type = flush->type == LOGGER_REMOVE ? LOGGER_ENDED : LOGGER_FLUSHED,
		.stream = flush->stream,
		.cookie = flush->cookie,
	};
	struct store_counts now;

	if (s) {
		store_count(s->record, &now);
		reply.flushed.dropped_bytes = now.lost_bytes - flush->before.lost_bytes;
		reply.flushed.dropped_lines = now.lost_lines - flush->before.lost_lines;
	}
	if (s && flush->type == LOGGER_REMOVE) {
		if (s->rules.to == LOGGER_TO_FILE)
			deliver_reopen(l, s);
		input_remove(l, s);
		area_clear(&l->area, flush->stream);
	}
	reply_send(l, &reply, NULL);
	if (flush->type == LOGGER_STOP)
		l->over = true;
}

void control_update(struct logger *l)
{
	struct flush *flush, *next;

	list_for_each_safe (flush, next, &l->flushes, in_flushes) {
		if (!control_is_flush_done(l, flush))
			continue;
		list_remove(&flush->in_flushes);
		control_reply_flush(l, flush);
		free(flush);
	}
}

void control_stop(struct logger *l, uint64_t cookie)
{
	const struct logger_message m = {
		.type = LOGGER_STOP,
		.stream = LOGGER_ALL,
		.cookie = cookie,
	};

	if (control_flush(l, &m) < 0)
		l->over = true;
}

void control_done(struct logger *l)
{
	struct flush *flush;

	list_for_each_taken (flush, &l->flushes, in_flushes)
		free(flush);
}

/* --- readers --- */

static struct view *control_find_view(const struct logger *l, uint32_t id)
{
	struct view *view;

	list_for_each (view, &l->views, in_all)
		if (view->id == id)
			return view;
	return NULL;
}

static int control_view(struct logger *l, struct logger_packet *p)
{
	struct view *view = control_find_view(l, p->message.view.id);
	int r;

	view_free(view);
	r = view_new(&view, p->message.view.id, take_fd(p->fd));
	if (r < 0)
		return r;
	r = logger_watch(l, view->fd, 0, WATCH_VIEW, view->id);
	if (r < 0) {
		view_free(view);
		return r;
	}
	view->plain = p->message.view.plain;
	list_append(&l->views, &view->in_all);
	return 0;
}

static int control_show(struct logger *l, const struct logger_message *m, struct stream *s)
{
	struct view *view = control_find_view(l, m->view.id);

	if (!s->worker)
		stream_note_seam(s);
	/* The reader may have gone. */
	return view ? view_add(view, s, &m->view) : 0;
}

/* The file of a stream that has no pipe yet. */
static int control_show_file(struct logger *l, const struct logger_packet *p)
{
	const struct logger_view *wish = &p->message.view;
	struct view *view = control_find_view(l, wish->id);

	if (!p->texts[1] || wish->kind >= LOGGER_KINDS)
		return -EBADMSG;
	return view ? view_add_file(
			      view,
			      &(struct older_wish){ .path = p->texts[1], .lines = wish->lines },
			      p->texts[0], wish->kind)
		    : 0;
}

/* --- all of them --- */

static int control_take(struct logger *l, struct logger_packet *p)
{
	const struct logger_message *m = &p->message;
	struct stream *s = m->stream < LOGGER_STREAMS ? l->streams[m->stream] : NULL;
	struct view *view;

	/* A question would be the cause of the next one. */
	if (m->type != LOGGER_HELLO)
		logger_set_timer(l);
	switch (m->type) {
	case LOGGER_HELLO:
		reply_send(l, &(struct logger_message){ .type = m->type, .stream = m->stream },
			   NULL);
		return 0;
	case LOGGER_TIMER:
		(void)fd_close(l->timer);
		l->timer = p->fd;
		p->fd = -1;
		logger_set_timer(l);
		return 0;
	case LOGGER_ADD:
		return control_add(l, p);
	case LOGGER_REOPEN:
		deliver_reopen(l, s);
		return 0;
	case LOGGER_VIEW:
		return control_view(l, p);
	case LOGGER_BEGIN:
		view = control_find_view(l, m->view.id);
		if (view) {
			view->follow = m->view.follow;
			view->begun = true;
		}
		return 0;
	case LOGGER_LEAVE:
		view_free(control_find_view(l, m->view.id));
		return 0;
	case LOGGER_STOP:
		control_stop(l, m->cookie);
		return 0;
	case LOGGER_FLUSH:
		return s || m->stream == LOGGER_ALL ? control_flush(l, m) : -ENOENT;
	case LOGGER_SHOW:
		if (m->stream == LOGGER_ALL)
			return control_show_file(l, p);
		return s ? control_show(l, m, s) : -ENOENT;
	case LOGGER_CHANGE:
		return s ? control_change(l, p, s) : -ENOENT;
	case LOGGER_WATCH:
		if (!s)
			return -ENOENT;
		s->reported = false;
		deliver_queue(l, s);
		return 0;
	case LOGGER_REMOVE:
		return s ? control_flush(l, m) : -ENOENT;
	default:
		return -EBADMSG;
	}
}

int control_receive(struct logger *l)
{
	struct logger_packet packet;

	reply_flush(l);
	for (int i = 0; i < MESSAGES_AT_ONCE; i++) {
		int r = logger_receive(l->control, &packet);

		if (r == -EAGAIN)
			return 0;
		if (r == 0)
			return -ECONNRESET;
		if (r > 0) {
			r = control_take(l, &packet);
			packet.fd = fd_close(packet.fd);
		} else if (r != -EBADMSG && r != -EMFILE) {
			return r;
		}
		if (r < 0)
			control_refuse(l, &packet.message, -r, strerror(-r));
	}
	return 0;
}
