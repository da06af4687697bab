/*
 * A stream is in one of five places: in the queue of its helper; in the queue of its sink; in
 * logger.retries, after a failure of its destination; with a helper that writes a portion; or in no
 * queue, as all of its lines are written.
 */
#include "logger/loop/deliver.h"

#include <sys/epoll.h>

#include "logger/loop/loud.h"
#include "logger/loop/reply.h"
#include "logger/loop/sinks.h"
#include "logger/ring/format.h"
#include "sys/file/mount.h"

#define RETRY_USEC (USEC_PER_SEC / 2)
/* The longest wait until the daemon notes the process of new output, and the interval of looking for it. */
#define RUN_USEC      USEC_PER_SEC
#define RUN_LOOK_USEC USEC_PER_MSEC
/* Limits a portion, as other files of the same file system wait for its end. */
#define PORTION_MAX (1024 * 1024)
/*
 * Where there is little room, a part of a portion fits: after a failure the next one is 4 KiB, and each
 * success doubles it.
 */
#define CAUTION_MAX 8

_Static_assert(PORTION_MAX < STREAM_WAITING_MAX - 2 * STREAM_PORTION,
	       "lines that a helper writes are not discarded");

/* --- helpers --- */

static int deliver_get_helper(struct logger *l, const char *key, int fd, struct helper **ret)
{
	struct helper *h;
	int r;

	list_for_each (h, &l->helpers, in_all)
		if (strcmp(h->key, key) == 0) {
			*ret = h;
			return 0;
		}
	r = helper_new(&h, &l->area, key, fd);
	if (r < 0)
		return r;
	h->number = l->n_helpers++;
	list_append(&l->helpers, &h->in_all);
	*ret = h;
	return 0;
}

static void deliver_start(struct logger *l, struct helper *h)
{
	int r;

	if (h->socket >= 0 || h->retry_usec > l->now_usec)
		return;
	r = helper_start(h);
	if (r == 0)
		r = logger_watch(l, h->socket, EPOLLIN, WATCH_HELPER, h->number);
	/* A helper that ends right after each start is not started in a loop. */
	h->retry_usec = l->now_usec + (r < 0 ? RETRY_USEC : RETRY_USEC / 5);
}

static int deliver_helper_for_path(struct logger *l, const char *path, struct helper **ret)
{
	cleanup(freep) char *mount = NULL;
	int r = mount_point_of(path, &mount);

	return r < 0 ? r : deliver_get_helper(l, mount, -1, ret);
}

/* The helper of the file that the record names also ends the portion that was begun there. */
static int deliver_recover(struct logger *l, struct stream *s)
{
	char path[STORE_PATH];
	struct helper *h = s->outlet;
	int r = 0;

	if (s->record->step != STORE_IDLE && !s->record->foreign && s->record->device &&
	    area_path(&l->area, s->id, path) == 0)
		r = deliver_helper_for_path(l, path, &h);
	if (r < 0 || !h || h->ready)
		return r;
	s->worker = h;
	deliver_start(l, h);
	return 0;
}

static void deliver_forget_file(struct logger *l, const struct stream *s)
{
	struct helper *h;

	list_for_each (h, &l->helpers, in_all)
		if (h->stream == s)
			h->stream = NULL;
}

void deliver_forget(struct logger *l, struct stream *s)
{
	deliver_forget_file(l, s);
	loud_forget(l, s);
}

int deliver_attach(struct logger *l, struct stream *s)
{
	struct helper *h = NULL;
	int r = 0;

	if (s->rules.to == LOGGER_TO_FILE)
		r = deliver_helper_for_path(l, s->path, &h);
	else if (s->rules.to == LOGGER_TO_OUTPUT)
		r = deliver_get_helper(l, "fd:1", STDOUT_FILENO, &h);
	else if (s->rules.to == LOGGER_TO_ERROR || s->rules.to == LOGGER_TO_SYSLOG)
		r = deliver_get_helper(l, "fd:2", STDERR_FILENO, &h);
	if (r < 0)
		return r;
	list_remove(&s->in_queue);
	s->outlet = h;
	s->opened = s->rules.to != LOGGER_TO_FILE;
	if (!s->worker) {
		deliver_forget_file(l, s); /* a file was opened for earlier output */
		r = deliver_recover(l, s);
	}
	deliver_queue(l, s);
	return r;
}

/* --- queues --- */

/* LOGGER_CHANGE queues the stream again. */
static bool deliver_awaits_rules(const struct logger *l, const struct stream *s)
{
	return l->control >= 0 && stream_awaits_rules(s);
}

/* A process may write before the daemon has its pid. */
static bool deliver_awaits_run(const struct logger *l, const struct stream *s)
{
	const struct store_mark *mark;
	uint64_t next;

	if (l->control < 0 || !s->slot.ring)
		return false;
	mark = stream_mark(s, s->record->now.position, &next);
	return mark && mark->run.pid == 0 && mark->run.generation > 0 &&
	       mark->run.generation == s->record->run.generation &&
	       clock_realtime_usec() < mark->time_usec + RUN_USEC;
}

/* Returns true if nothing of the stream, which is in no queue, is written now. */
static bool deliver_puts_off(struct logger *l, struct stream *s)
{
	if (deliver_awaits_rules(l, s))
		return true;
	if (!deliver_awaits_run(l, s))
		return false;
	s->retry_usec = l->now_usec + RUN_LOOK_USEC;
	list_append(&l->retries, &s->in_queue);
	return true;
}

/* The output is not written anywhere, only read from memory. */
static void deliver_to_memory(struct logger *l, struct stream *s)
{
	struct store_record *record = s->record;
	uint64_t from = record->now.position, end = s->slot.ring ? stream_writable_end(s) : from;

	if (end == from || deliver_awaits_rules(l, s))
		return;
	record->next = record->now;
	record->next.position = end;
	record->next.written_bytes += end - from;
	record->next.written_lines += stream_count_lines(stream_at(s, from), end - from);
	area_commit(record);
	loud_trim(l, s);
}

/* The ring may have discarded output that was seen. */
static void deliver_report_output(struct logger *l, struct stream *s)
{
	struct logger_message m = { .type = LOGGER_WATCH, .stream = s->id };

	if (s->reported || !stream_watched(s) || stream_taken(s) + 1 == stream_watched(s))
		return;
	s->reported = true;
	reply_send(l, &m, NULL);
}

void deliver_queue(struct logger *l, struct stream *s)
{
	struct helper *h = s->outlet;

	deliver_report_output(l, s);
	if (s->worker || !list_is_empty(&s->in_queue) || (!s->slot.ring && s->opened))
		return;
	if (s->rules.to == LOGGER_TO_SYSLOG && sink_open(l, SINK_SYSLOG) == 0)
		list_append(&l->sinks[SINK_SYSLOG].streams, &s->in_queue);
	else if (h)
		list_append(&h->pending, &s->in_queue);
	else if (s->rules.to == LOGGER_TO_JOURNAL)
		list_append(&l->sinks[SINK_JOURNAL].streams, &s->in_queue);
	else
		deliver_to_memory(l, s);
}

/* --- trouble --- */

static void deliver_report(struct logger *l, const struct stream *s, int error)
{
	struct store_counts now;
	struct logger_message m = { .type = LOGGER_TROUBLE, .stream = s->id };

	store_count(s->record, &now);
	m.trouble.error = error;
	m.trouble.dropped_bytes = now.lost_bytes - s->counts.lost_bytes;
	m.trouble.dropped_lines = now.lost_lines - s->counts.lost_lines;
	reply_send(l, &m, s->path);
}

static void deliver_failed(struct logger *l, struct stream *s, int error)
{
	s->retry_usec = l->now_usec + RETRY_USEC;
	list_remove(&s->in_queue);
	list_append(&l->retries, &s->in_queue);
	/* The beginning of a line that is still to come stays. */
	while ((s->rules.flags & LOGGER_BRIEF) && stream_writable_end(s) > s->record->now.position)
		stream_drop(s);
	if (s->record->error == error)
		return;
	if (s->record->error == 0)
		store_count(s->record, &s->counts);
	s->record->error = error;
	deliver_report(l, s, error);
}

static void deliver_succeeded(struct logger *l, struct stream *s)
{
	s->retry_usec = 0;
	s->stalled = false;
	s->opened = true;
	if (s->record->error) {
		s->record->error = 0;
		deliver_report(l, s, 0);
	}
	loud_trim(l, s);
}

/* --- files and descriptors --- */

static void deliver_give_portion(struct helper *h, struct stream *s)
{
	struct store_progress next = s->record->now;
	size_t limit = PORTION_MAX >> s->caution, block, size;

	/* A file exceeds its limit only by a single line that does. */
	if (s->rules.to == LOGGER_TO_FILE && s->rules.size)
		limit = (size_t)MIN(limit, s->rules.size);
	size = block = s->slot.ring ? format_block(s, limit, &next) : 0;
	if (s->slot.ring && block == 0)
		size = format_portion(s, helper_data(h), limit, &next);
	if (size == 0 && s->opened)
		return;
	stream_note_seam(s);
	/* A helper that has ended is noticed by an event, and the next one recovers the stream. */
	(void)helper_write(h, s->id, &s->rules, s->path, block ? HELPER_RING : HELPER_DATA, size,
			   &next);
	h->busy = true;
	h->stream = s;
	/* Without a portion the record stays the logger's. */
	if (size > 0)
		s->worker = h;
}

/* Streams that had a portion with the helper are the logger's again. */
static void deliver_release(struct logger *l, const struct helper *h)
{
	for (uint32_t i = 0; i < l->n_used; i++) {
		struct stream *s = l->streams[i];

		if (!s || s->worker != h)
			continue;
		s->worker = NULL;
		deliver_queue(l, s);
	}
}

static void deliver_finished(struct logger *l, struct helper *h, int result)
{
	struct stream *s = h->stream;

	h->stream = NULL;
	if (!s)
		return;
	s->worker = NULL;
	if (result < 0 && s->caution == CAUTION_MAX) {
		deliver_failed(l, s, -result);
		return;
	}
	if (result < 0) {
		s->caution = CAUTION_MAX;
	} else {
		s->caution -= s->caution > 0;
		deliver_succeeded(l, s);
	}
	deliver_queue(l, s);
}

void deliver_event(struct logger *l, uint32_t number)
{
	struct stream *s;
	struct helper *h;
	int result = 0;

	list_for_each (h, &l->helpers, in_all) {
		if (h->number != number || h->socket < 0)
			continue;
		switch (helper_receive(h, &result)) {
		case HELPER_READY:
			deliver_release(l, h);
			break;
		case HELPER_DONE:
			deliver_finished(l, h, result);
			break;
		case HELPER_DEAD:
			/* Its next process ends the portion of a stream that has one, see deliver_release(). */
			s = h->stream;
			h->stream = NULL;
			if (s)
				deliver_queue(l, s);
			deliver_start(l, h);
			break;
		case HELPER_NOTHING:
			break;
		}
		return;
	}
}

void deliver_reopen(struct logger *l, const struct stream *s)
{
	struct helper *h;

	list_for_each (h, &l->helpers, in_all)
		if (!s || s->outlet == h)
			helper_reopen(h, s ? s->id : LOGGER_ALL);
}

/* --- the journal and syslog --- */

static void deliver_to_sink(struct logger *l, enum sink_kind kind, struct stream *s)
{
	int r;

	if (deliver_puts_off(l, s))
		return;
	r = sink_write(l, kind, s);
	/* A syslogd that has ended counts as none. */
	if (r < 0 && r != -EAGAIN && !(kind == SINK_SYSLOG && r == -ECONNREFUSED)) {
		deliver_failed(l, s, -r);
		return;
	}
	if (r >= 0)
		deliver_succeeded(l, s);
	if (r != 0)
		deliver_queue(l, s);
}

/* --- all of them --- */

void deliver_all(struct logger *l)
{
	struct stream *s, *next;
	struct helper *h;

	list_for_each_safe (s, next, &l->retries, in_queue)
		if (s->retry_usec <= l->now_usec) {
			list_remove(&s->in_queue);
			deliver_queue(l, s);
		}
	loud_update(l);
	/* Sinks come first, as lines that syslogd does not take go to a helper. */
	for (enum sink_kind kind = 0; kind < N_SINKS; kind++) {
		struct list streams;

		list_init(&streams);
		if (!l->sinks[kind].waiting)
			list_move(&streams, &l->sinks[kind].streams);
		list_for_each_taken (s, &streams, in_queue)
			deliver_to_sink(l, kind, s);
	}
	list_for_each (h, &l->helpers, in_all) {
		struct list *first;

		if (!h->ready)
			deliver_start(l, h);
		while (h->ready && !h->busy && (first = list_take(&h->pending))) {
			s = list_entry(first, struct stream, in_queue);
			if (!deliver_puts_off(l, s))
				deliver_give_portion(h, s);
		}
	}
}

int deliver_timeout(const struct logger *l)
{
	const struct helper *h;
	const struct stream *s;

	for (enum sink_kind kind = 0; kind < N_SINKS; kind++)
		if (!l->sinks[kind].waiting && !list_is_empty(&l->sinks[kind].streams))
			return 0;
	list_for_each (h, &l->helpers, in_all)
		if (h->socket < 0 && h->retry_usec > 0)
			return 20;
	list_for_each (s, &l->retries, in_queue)
		if (s->retry_usec <= l->now_usec + RUN_LOOK_USEC)
			return 1;
	return list_is_empty(&l->retries) ? loud_timeout(l) : 100;
}

bool deliver_is_flushed(const struct stream *s)
{
	return !s->draining && !s->worker &&
	       s->record->now.position >= MIN(s->end_at, stream_taken(s));
}

bool deliver_done(struct logger *l)
{
	struct helper *h, *next;
	bool idle = true;

	list_for_each_safe (h, next, &l->helpers, in_all) {
		idle &= h->socket < 0 || (h->ready && !h->busy);
		helper_free(h);
	}
	sinks_done(l);
	return idle;
}
