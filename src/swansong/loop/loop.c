/*
 * The loop is a gate (gate.c), and a thread with an sd_event that executes the posts of the gate.
 *
 * The first other thread that stops the loop joins its thread.  Only the joining is under the lock
 * "control", which the loop's thread never takes.
 */

#include <systemd/sd-event.h>

#include "swansong/base/cancel-private.h"
#include "swansong/count/misuse-private.h"
#include "swansong/loop/loop-private.h"

struct swansong_loop {
	struct swansong *node;
	struct sd_event *event;
	struct sd_event_source *wake;
	struct gate gate;
	_Atomic unsigned int holds;

	struct lock control; /* of the next members, once there is a thread */
	pthread_t thread;
	bool joinable;
	int fault;
};

/* The loop that has this thread, or NULL. */
static _Thread_local const struct swansong_loop *own_loop;

enum swansong_loop_state swansong_loop_state(const struct swansong_loop *l)
{
	_Static_assert((int)GATE_STOPPED == (int)SWANSONG_LOOP_STOPPED, "the same states");
	return (enum swansong_loop_state)gate_state(&l->gate);
}

struct swansong *swansong_loop_node(struct swansong_loop *l)
{
	return l->node;
}

struct sd_event *swansong_loop_event(struct swansong_loop *l)
{
	return l->event;
}

/* ---- posts ---- */

int loop_post(struct swansong_loop *l, struct post *post)
{
	return gate_post(&l->gate, post);
}

int swansong_loop_post_at(struct swansong_loop *l, void (*fn)(void *arg), void *arg,
			  const char *file, unsigned int line, const char *function)
{
	struct post *post = post_new(fn, arg, file, line, function);
	int r = post ? loop_post(l, post) : -ENOMEM;

	if (r < 0)
		free(post);
	return r;
}

/* ---- the thread ---- */

void loop_end_if_forked(const struct swansong_loop *l)
{
	if (gate_is_foreign(&l->gate))
		pthread_exit(NULL);
}

static int loop_on_wake(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	struct swansong_loop *l = arg;

	gate_run(&l->gate);
	loop_end_if_forked(l);
	if (swansong_loop_state(l) == SWANSONG_LOOP_RUNNING)
		return 0;
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

static void loop_work(void *arg)
{
	struct swansong_loop *l = arg;
	int r, code;

	own_loop = l;
	(void)gate_move(&l->gate, GATE_STARTING, GATE_RUNNING);
	do
		r = sd_event_run(l->event, UINT64_MAX);
	while (r >= 0 && sd_event_get_exit_code(l->event, &code) == -ENODATA);
	l->fault = r < 0 ? r : 0;
	gate_begin_stop(&l->gate); /* in case the sd_event ended by itself */
	gate_run(&l->gate);
	loop_end_if_forked(l);
	/* The sd_event dispatches only exit sources now. */
	if (l->fault < 0)
		(void)sd_event_exit(l->event, l->fault);
	while (sd_event_get_state(l->event) != SD_EVENT_FINISHED)
		if (sd_event_run(l->event, UINT64_MAX) < 0)
			break;
	gate_end_stop(&l->gate);
}

static void *loop_main(void *arg)
{
	CANCEL_DISABLED_SCOPE;

	misuse_call(loop_work, arg);
	return NULL;
}

/* ---- from outside ---- */

static int loop_start_thread(struct swansong_loop *l)
{
	int r;

	if (swansong_loop_state(l) != SWANSONG_LOOP_STARTING)
		return -ESHUTDOWN;
	r = thread_start(&l->thread, "swansong-loop", loop_main, l);
	if (r < 0)
		return r;
	l->joinable = true;
	/* The thread may have done this already, so that there is nothing to wait for. */
	(void)gate_move(&l->gate, GATE_STARTING, GATE_RUNNING);
	return 0;
}

int swansong_loop_start(struct swansong_loop *l)
{
	int r;

	if (!gate_move(&l->gate, GATE_IDLE, GATE_STARTING))
		return swansong_loop_state(l) < SWANSONG_LOOP_STOPPING ? -EALREADY : -ESHUTDOWN;

	lock_take(&l->control);
	r = loop_start_thread(l);
	(void)lock_leave(&l->control);

	/* If the state has changed, a stop came meanwhile, and ends the loop itself. */
	if (r < 0)
		(void)gate_move(&l->gate, GATE_STARTING, GATE_IDLE);
	return r;
}

int swansong_loop_stop(struct swansong_loop *l)
{
	CANCEL_DISABLED_SCOPE; /* joining is with the lock held */
	int r;

	gate_begin_stop(&l->gate);
	if (own_loop == l || gate_is_foreign(&l->gate))
		return 0;

	lock_take(&l->control);
	if (l->joinable)
		(void)pthread_join(l->thread, NULL);
	l->joinable = false;
	r = l->fault;
	(void)lock_leave(&l->control);

	gate_end_stop(&l->gate); /* in case there never was a thread */
	return r;
}

/* ---- life ---- */

struct swansong_loop *loop_hold(struct swansong_loop *l)
{
	(void)shared_add(&l->holds, 1, relaxed); /* the caller has a hold meanwhile */
	return l;
}

void loop_release(struct swansong_loop *l)
{
	/* Release: the use of the loop by this hold.  Acquire: all uses, before it is freed. */
	if (shared_sub(&l->holds, 1, acq_rel) != 1)
		return;
	gate_done(&l->gate);
	free(l);
}

static struct swansong_loop *loop_free(struct swansong_loop *l)
{
	CANCEL_DISABLED_SCOPE;

	l->wake = sd_event_source_disable_unref(l->wake);
	l->event = sd_event_unref(l->event);
	l->node = swansong_unref(l->node);
	loop_release(l);
	return NULL;
}

static int loop_init(struct swansong_loop *l, struct swansong *parent)
{
	int r;

	shared_init(&l->holds, 1);
	l->control = (struct lock)LOCK_INITIALIZER;
	l->gate.fd = -1;
	r = parent ? swansong_child(parent, &l->node) : swansong_new(&l->node);
	if (r < 0)
		return r;
	r = gate_init(&l->gate, l->node);
	if (r < 0)
		return r;
	r = sd_event_new(&l->event);
	if (r < 0)
		return r;
	return sd_event_add_io(l->event, &l->wake, l->gate.fd, EPOLLIN, loop_on_wake, l);
}

int swansong_loop_new(struct swansong *parent, struct swansong_loop **ret)
{
	CANCEL_DISABLED_SCOPE;
	struct swansong_loop *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	r = loop_init(l, parent);
	if (r < 0) {
		(void)loop_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

struct swansong_loop *swansong_loop_unref(struct swansong_loop *l)
{
	if (!l)
		return NULL;
	if (own_loop == l) {
		thread_refuse(__func__, "on the loop's own thread");
		return l;
	}
	(void)swansong_loop_stop(l);
	return loop_free(l);
}
