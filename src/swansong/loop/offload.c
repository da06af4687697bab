/*
 * Work is done on a pool, and its result is reported on a loop.
 *
 * Everything is decided on the loop's thread.  The timer, the end of the work (a post) and the end
 * of the loop (an exit source) come one after the other there: the first one reports the result,
 * and removes the others.  The work itself only sets work_done before it posts.
 *
 * The object has two sides, and outlives both: the loop, until the result is reported, and the
 * work, until the post of its end is executed or refused.  When that is refused, the loop is at its
 * end, and its exit source has reported the result or will do so.  Work that ends late finds the
 * result reported and posts nothing.  The side of the work holds the memory of the loop, and of the
 * pool only a guard on its node.
 */

#include <systemd/sd-event.h>

#include "swansong/loop/loop-private.h"
#include "swansong/loop/pool-private.h"

struct offload {
	struct swansong_offload user;
	struct swansong_loop *loop;
	struct swansong_guard guard; /* the guard of the job, until the object is freed */
	uint64_t deadline;
	struct post job;   /* to the pool */
	struct post begun; /* to the loop, to set the timer */
	struct post ended; /* to the loop, when the work is done */

	_Atomic unsigned int sides;
	_Atomic uint32_t work_done; /* the work has returned */
	_Atomic uint32_t told;	    /* the result has been reported */

	/* Used on the loop's thread only. */
	struct sd_event_source *timer, *at_exit;
};

static void offload_put(struct offload *o)
{
	struct swansong_guard guard;

	/* Release: the use of it by this side.  Acquire: all uses, before it is released. */
	if (shared_sub(&o->sides, 1, acq_rel) != 1)
		return;
	if (o->user.release)
		o->user.release(o->user.arg);
	loop_release(o->loop);
	guard = o->guard;
	free(o);
	swansong_guard_drop(&guard);
}

/* ---- on the loop's thread ---- */

static void offload_report(struct offload *o, int result)
{
	struct swansong_loop *l = o->loop;

	o->timer = sd_event_source_disable_unref(o->timer);
	o->at_exit = sd_event_source_disable_unref(o->at_exit);
	/* Acquire: everything the work did. */
	if (shared_load(&o->work_done, acquire))
		result = 0;
	(void)shared_or(&o->told, 1, relaxed); /* a hint for the work: nothing is published by it */
	o->user.done(o->user.arg, result);
	offload_put(o);
	loop_end_if_forked(l); /* it runs this, and exists */
}

static int offload_on_timer(sd_event_source *source, uint64_t usec, void *arg)
{
	offload_report(arg, -ETIMEDOUT);
	return 0;
}

static int offload_on_exit(sd_event_source *source, void *arg)
{
	offload_report(arg, -ESHUTDOWN);
	return 0;
}

static void offload_on_begun(struct post *post, struct swansong_guard *guard)
{
	struct offload *o = container_of(post, struct offload, begun);
	struct sd_event *event = swansong_loop_event(o->loop);
	int r = sd_event_add_exit(event, &o->at_exit, offload_on_exit, o);

	if (r >= 0 && o->deadline != USEC_INFINITY)
		r = sd_event_add_time(event, &o->timer, CLOCK_MONOTONIC, o->deadline, USEC_PER_MSEC,
				      offload_on_timer, o);
	if (r < 0)
		offload_report(o, r);
}

/* Executed after offload_on_begun(), as posts are executed in their order. */
static void offload_on_ended(struct post *post, struct swansong_guard *guard)
{
	struct offload *o = container_of(post, struct offload, ended);

	if (!shared_load(&o->told, relaxed)) /* this thread sets it */
		offload_report(o, 0);
	offload_put(o);
}

/* ---- on a thread of the pool ---- */

static void offload_run(struct post *job, struct swansong_guard *guard)
{
	struct offload *o = container_of(job, struct offload, job);

	o->guard = *guard;
	*guard = (struct swansong_guard){ 0 };
	if (!shared_load(&o->told, relaxed)) { /* it may be set right after, which does no harm */
		o->user.work(o->user.arg);
		(void)shared_or(&o->work_done, 1, release); /* release: everything the work did */
	}
	if (shared_load(&o->told, relaxed) || loop_post(o->loop, &o->ended) < 0)
		offload_put(o);
}

/* ---- on any thread ---- */

static int offload_begin(struct post *job)
{
	struct offload *o = container_of(job, struct offload, job);

	return loop_post(o->loop, &o->begun);
}

int swansong_pool_offload_at(struct swansong_pool *p, struct swansong_loop *loop,
			     const struct swansong_offload *user, uint64_t timeout_usec,
			     const char *file, unsigned int line, const char *function)
{
	const struct swansong_guard site = { .file = file, .line = line, .function = function };
	struct offload *o = calloc(1, sizeof(*o));
	int r;

	if (!o)
		return -ENOMEM;
	o->user = *user;
	o->loop = loop_hold(loop);
	o->deadline = clock_add(clock_now_usec(), timeout_usec);
	o->job.guard = o->begun.guard = o->ended.guard = site;
	o->job.run = offload_run;
	o->begun.run = offload_on_begun;
	o->ended.run = offload_on_ended;
	shared_init(&o->sides, 2);
	shared_init(&o->work_done, 0);
	shared_init(&o->told, 0);

	r = pool_accept(p, &o->job, offload_begin);
	if (r < 0) {
		loop_release(o->loop);
		free(o);
	}
	return r;
}
