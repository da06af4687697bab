/*
 * A pipe is watched until its ring is full; then it is paused, and watched again when the ring has
 * room.  While the destination works, the service waits for it; the oldest lines are dropped only
 * if the destination fails or takes no line for long.
 */
#include "logger/loop/input.h"

#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/fd.h"
#include "logger/loop/deliver.h"

#define STALL_USEC USEC_PER_SEC
#define LOOK_MSEC  100

int input_watch(struct logger *l, struct stream *s)
{
	return s->fd < 0 ? 0 : logger_watch(l, s->fd, EPOLLIN, WATCH_STREAM, s->id);
}

static void input_pause(struct logger *l, struct stream *s)
{
	if (s->fd < 0)
		return;
	if (!s->paused) {
		logger_unwatch(l, s->fd);
		l->n_paused++;
	}
	s->paused = true;
	s->check_usec = l->now_usec;
	s->check_position = s->record->now.position;
}

static void input_unpause(struct logger *l, struct stream *s)
{
	l->n_paused -= s->paused;
	s->paused = false;
}

/* A destination that takes no line for this long counts as failed. */
static void input_check_stall(const struct logger *l, struct stream *s)
{
	if (s->check_position != s->record->now.position) {
		s->check_position = s->record->now.position;
		s->check_usec = l->now_usec;
		s->stalled = false;
	} else if (l->now_usec - s->check_usec >= STALL_USEC) {
		s->stalled = true;
	}
}

int input_timeout(const struct logger *l)
{
	for (uint32_t i = 0; l->n_paused > 0 && i < l->n_used; i++)
		if (l->streams[i] && l->streams[i]->paused && !l->streams[i]->stalled)
			return LOOK_MSEC;
	return -1;
}

/* A pipe that is not watched reports its end by no event. */
static bool input_has_writer(const struct stream *s)
{
	struct pollfd p = { .fd = s->fd };

	return s->fd >= 0 && (!s->paused || poll(&p, 1, 0) <= 0 || !(p.revents & POLLHUP));
}

bool input_has_writers(const struct logger *l)
{
	for (uint32_t i = 0; i < l->n_used; i++)
		if (l->streams[i] && input_has_writer(l->streams[i]))
			return true;
	return false;
}

/* Every process that could write has ended, the daemon, too. */
static void input_end(struct logger *l, struct stream *s)
{
	if (!s->paused)
		logger_unwatch(l, s->fd);
	input_unpause(l, s);
	s->fd = fd_close(s->fd);
	s->end_at = stream_taken(s);
}

void input_take(struct logger *l, struct stream *s)
{
	ssize_t n;

	if (s->fd < 0)
		return;
	n = stream_take(s, clock_realtime_usec());
	if (n == -ENOBUFS)
		input_pause(l, s);
	else if (n == 0 || (n < 0 && n != -EAGAIN && n != -EINTR && n != -ENOMEM))
		input_end(l, s);
	deliver_queue(l, s);
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

		if (!s || !s->paused)
			continue;
		input_check_stall(l, s);
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
		logger_unwatch(l, s->fd);
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
