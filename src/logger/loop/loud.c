/*
 * A page of a ring that is freed and allocated again costs as much as a copy of it, and a service that
 * waits for room in its pipe even more.  So a loud stream keeps all pages of its ring and has a larger
 * pipe for a while; one that still is loud then is soon found to be again.
 */
#include "logger/loop/loud.h"

/* Limited, as a user has 64 MiB for pipes. */
#define LOUD_MAX     8
#define LOUD_PIPE    (1024 * 1024)
#define LOUD_USEC    (USEC_PER_SEC / 2)
#define LOUD_DEFAULT (64 * 1024)

static int loud_control_pipe(const struct stream *s, int command, int value)
{
	return area_control_pipe(s->area, s->id, s->fd, command, value);
}

void loud_add(struct stream *s)
{
	s->pipe_size = loud_control_pipe(s, F_GETPIPE_SZ, 0);
	if (s->pipe_size < LOUD_PIPE)
		return;
	/* A killed logger may have left a larger pipe.  If that has too much content, the stream is loud soon. */
	s->pipe_size = LOUD_DEFAULT;
	(void)loud_control_pipe(s, F_SETPIPE_SZ, s->pipe_size);
}

void loud_trim(struct logger *l, struct stream *s)
{
	if (!list_is_empty(&s->in_loud) || !stream_has_old(s))
		return;
	if (l->n_loud == LOUD_MAX) {
		stream_trim(s);
		return;
	}
	s->loud_usec = clock_add(l->now_usec, LOUD_USEC);
	list_append(&l->loud, &s->in_loud);
	l->n_loud++;
	if (s->pipe_size < LOUD_PIPE)
		(void)loud_control_pipe(s, F_SETPIPE_SZ, LOUD_PIPE);
}

bool loud_has_larger_pipe(const struct stream *s)
{
	return !list_is_empty(&s->in_loud) && loud_control_pipe(s, F_GETPIPE_SZ, 0) >= LOUD_PIPE;
}

void loud_forget(struct logger *l, struct stream *s)
{
	l->n_loud -= !list_is_empty(&s->in_loud);
	list_remove(&s->in_loud);
}

void loud_update(struct logger *l)
{
	struct stream *s, *next;

	list_for_each_safe (s, next, &l->loud, in_loud) {
		if (s->loud_usec > l->now_usec)
			return;
		loud_forget(l, s);
		stream_trim(s);
		/* Fails while the pipe has more content: another attempt follows. */
		if (s->pipe_size < LOUD_PIPE)
			(void)loud_control_pipe(s, F_SETPIPE_SZ, s->pipe_size);
	}
}

int loud_timeout(const struct logger *l)
{
	return list_is_empty(&l->loud) ? -1 : (int)(LOUD_USEC / 1000);
}
