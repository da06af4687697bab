/*
 * A pipe is watched by epoll, and the service wakes the logger with each write; the pipe of a loud
 * stream is read at ticks of a timer instead, until a tick finds it empty: writes are faster without
 * a wake-up.  A pipe is paused while its ring is full.  While the destination works, the service waits for it; the oldest lines are dropped only
 * if the destination fails or takes no line for long.
 */
#include "logger/loop/input.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "logger/loop/deliver.h"
#include "logger/loop/loud.h"

#define STALL_USEC USEC_PER_SEC
#define LOOK_MSEC  100
/* A writer of lines does not fill the larger pipe of a loud stream within this time. */
#define TICK_USEC 250
/* A writer of lines writes at most so many bytes at once. */
#define TICK_FROM (16 * 1024)
/* A writer of blocks, which would wait for the next tick, writes at least so many portions until a tick. */
#define TICK_PORTIONS 3

int input_watch(struct logger *l, struct stream *s)
{
	return s->fd < 0 ? 0 : logger_watch(l, s->fd, EPOLLIN, WATCH_STREAM, s->id);
}

/* Sets the time of the next tick, if a stream needs one. */
static void input_set_tick(struct logger *l)
{
	struct itimerspec tick = { 0 };

	if (!list_is_empty(&l->ticked))
		tick.it_value.tv_nsec = TICK_USEC * 1000;
	(void)timerfd_settime(l->tick, 0, &tick, NULL);
}

static bool input_is_ticked(const struct stream *s)
{
	return !list_is_empty(&s->in_ticked);
}

static void input_unwatch(struct logger *l, struct stream *s)
{
	if (input_is_ticked(s))
		list_remove(&s->in_ticked);
	else
		logger_unwatch(l, s->fd);
}

/*
 * A slow destination may need long for a portion, and the portions of other streams may be before
 * this one: what it takes of them counts, too.
 */
static uint64_t input_progress(const struct stream *s)
{
	const struct helper *h = s->worker ? s->worker : s->outlet;

	/* Without a portion, the lines for syslogd are not those of a helper. */
	if (!s->worker && s->rules.to == LOGGER_TO_SYSLOG)
		h = NULL;
	return s->record->now.position + (h ? helper_writes(h) : 0);
}

static void input_pause(struct logger *l, struct stream *s)
{
	if (s->fd < 0)
		return;
	if (!s->paused) {
		input_unwatch(l, s);
		l->n_paused++;
	}
	s->paused = true;
	s->check_usec = l->now_usec;
	s->check_progress = input_progress(s);
}

static void input_unpause(struct logger *l, struct stream *s)
{
	l->n_paused -= s->paused;
	s->paused = false;
}

int input_timeout(const struct logger *l)
{
	const struct view *view;

	list_for_each (view, &l->views, in_all)
		if (view->older_fd >= 0 && !view->waiting)
			return LOOK_MSEC;
	for (uint32_t i = 0; l->n_paused > 0 && i < l->n_used; i++)
		if (l->streams[i] && l->streams[i]->paused && !l->streams[i]->stalled)
			return LOOK_MSEC;
	return -1;
}

bool input_has_writers(const struct logger *l)
{
	for (uint32_t i = 0; i < l->n_used; i++) {
		const struct stream *s = l->streams[i];
		struct pollfd p = { .fd = s ? s->fd : -1 };

		/* A pipe that is paused reports its end by no event. */
		if (p.fd >= 0 && (!s->paused || poll(&p, 1, 0) <= 0 || !(p.revents & POLLHUP)))
			return true;
	}
	return false;
}

/* Return: as stream_take(). */
static ssize_t input_take(struct logger *l, struct stream *s)
{
	ssize_t n;

	if (s->fd < 0)
		return 0;
	n = stream_take(s, clock_realtime_usec());
	if (n == -ENOBUFS) {
		input_pause(l, s);
	} else if (n == 0 ||
		   (n < 0 && n != -EAGAIN && n != -EINTR && n != -ENOMEM && n != -ENOSPC)) {
		/*
		 * Every process that could write has ended, also the daemon.  If memory is short, the pipe is
		 * read later; a kernel that does not overcommit returns ENOSPC then.
		 */
		if (!s->paused)
			input_unwatch(l, s);
		input_unpause(l, s);
		s->fd = fd_close(s->fd);
		s->end_at = stream_taken(s);
	}
	deliver_queue(l, s);
	return n;
}

void input_event(struct logger *l, struct stream *s)
{
	/* An earlier event of this turn may have paused it. */
	ssize_t n = s->paused ? 0 : input_take(l, s);

	if (n > 0 && n < TICK_FROM && loud_has_larger_pipe(s) && !input_is_ticked(s)) {
		logger_unwatch(l, s->fd);
		list_append(&l->ticked, &s->in_ticked);
		input_set_tick(l);
	}
}

void input_tick(struct logger *l)
{
	struct stream *s, *next;

	list_for_each_safe (s, next, &l->ticked, in_ticked) {
		ssize_t n = STREAM_PORTION;

		for (int i = 0; i < TICK_PORTIONS && n == STREAM_PORTION; i++)
			n = input_take(l, s);
		/* A pipe that cannot be watched is read at ticks as before. */
		if ((n == -EAGAIN || n == STREAM_PORTION || (n > 0 && !loud_has_larger_pipe(s))) &&
		    input_watch(l, s) == 0)
			list_remove(&s->in_ticked);
	}
	input_set_tick(l);
}

void input_take_all(struct logger *l, struct stream *s)
{
	stream_take_all(s, clock_realtime_usec());
	if (s->draining)
		input_pause(l, s);
	deliver_queue(l, s);
}

void input_resume(struct logger *l)
{
	for (uint32_t i = 0; l->n_paused > 0 && i < l->n_used; i++) {
		struct stream *s = l->streams[i];
		uint64_t progress;

		if (!s || !s->paused)
			continue;
		progress = input_progress(s);
		/* A destination that takes no line for this long counts as failed. */
		if (s->check_progress != progress) {
			s->check_progress = progress;
			s->check_usec = l->now_usec;
			s->stalled = false;
		} else if (l->now_usec - s->check_usec >= STALL_USEC) {
			s->stalled = true;
		}
		if (!stream_has_room(s))
			continue;
		input_unpause(l, s);
		(void)input_watch(l, s);
		if (s->draining)
			input_take_all(l, s);
	}
}

void input_remove(struct logger *l, struct stream *s)
{
	struct view *view;

	list_for_each (view, &l->views, in_all)
		view_remove(view, s->id);
	if (s->fd >= 0 && !s->paused)
		input_unwatch(l, s);
	input_unpause(l, s);
	deliver_forget(l, s);
	l->streams[s->id] = NULL;
	stream_free(s);
}

/* --- readers --- */

static void input_show_one(struct logger *l, struct view *view)
{
	int r = view->waiting ? 0 : view_write(view, l->streams);

	if (r == -EAGAIN) {
		view->waiting = true;
		logger_rewatch(l, view->fd, EPOLLOUT, WATCH_VIEW, view->id);
	} else if (r != 0) {
		view_free(view);
	} else if (view->older_fd >= 0) {
		/* Edge-triggered: an event comes when the reader has room. */
		(void)logger_watch(l, view->older_fd, EPOLLIN | EPOLLET, WATCH_OLDER, view->id);
	}
}

void input_show(struct logger *l)
{
	struct view *view, *next;

	list_for_each_safe (view, next, &l->views, in_all)
		input_show_one(l, view);
}

/* An event without EPOLLOUT is the end of the reader. */
void input_show_event(struct logger *l, uint32_t id)
{
	struct view *view, *next;

	list_for_each_safe (view, next, &l->views, in_all) {
		if (view->id != id)
			continue;
		if (!view->waiting) {
			view_free(view);
			continue;
		}
		view->waiting = false;
		logger_rewatch(l, view->fd, 0, WATCH_VIEW, id);
		input_show_one(l, view);
	}
}
