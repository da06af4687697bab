/*
 * A completion is a waiter of its node, which it pins.  It belongs to its owner, and to its
 * function from swansong_completion_notify() until the function has returned or is cancelled.
 */
#include "swansong/completion.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/macro.h"
#include "swansong/count-private.h"
#include "swansong/misuse-private.h"

struct swansong_completion {
	struct waiter waiter;
	struct swansong *node;

	/* These under the lock of the node's waiters. */
	void (*fn)(void *arg);
	void *arg;
	pthread_t runner; /* while running */
	bool cancelled;
	bool running;

	_Atomic unsigned int owners;
	struct latch returned; /* fn has */
};

int swansong_completion_new(struct swansong *s, struct swansong_completion **ret)
{
	struct swansong_completion *c;

	misuse_of_node(s);
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->node = s;
	shared_init(&c->owners, 1);
	c->returned = (struct latch)LATCH_INITIALIZER(false);
	waiter_init(&c->waiter);
	count_pin(s);
	count_watch(s, &c->waiter);
	*ret = c;
	return 0;
}

/* One owner less.  The last one frees the completion. */
static void completion_put(struct swansong_completion *c)
{
	/* Release: the other's use of it.  Acquire: before it is freed. */
	if (shared_sub(&c->owners, 1, acq_rel) != 1)
		return;
	latch_done(&c->waiter.resolved);
	node_unpin(c->node);
	free(c);
}

static void completion_run(struct waiter *w)
{
	struct swansong_completion *c = container_of(w, struct swansong_completion, waiter);
	struct lock *lock = &c->node->waiters.lock;

	lock_take(lock);
	if (!c->cancelled) {
		c->running = true;
		c->runner = thread_self();
	}
	lock_leave(lock);

	/* Nobody cancels what is running. */
	if (c->running) {
		c->fn(c->arg);
		latch_set(&c->returned);
	}
	completion_put(c);
}

bool swansong_completion_done(struct swansong_completion *c)
{
	if (latch_is_set(&c->waiter.resolved))
		return true;
	if (!count_is_complete(c->node))
		return false;
	/* Whoever brought the count to zero has not come to us yet; a late guard may come first. */
	latch_set(&c->waiter.resolved);
	return true;
}

int swansong_completion_wait(struct swansong_completion *c, uint64_t deadline)
{
	return misuse_latch_wait(&c->waiter.resolved, deadline, c->node, __func__);
}

int swansong_completion_fd(struct swansong_completion *c)
{
	return latch_fd(&c->waiter.resolved);
}

int swansong_completion_notify(struct swansong_completion *c, void (*fn)(void *arg), void *arg)
{
	struct lock *lock = &c->node->waiters.lock;
	bool fresh, resolved;

	lock_take(lock);
	fresh = !c->fn;
	resolved = latch_is_set(&c->waiter.resolved);
	if (fresh) {
		c->fn = fn;
		c->arg = arg;
		c->waiter.run = completion_run;
		c->waiter.queued = resolved;		  /* by us */
		(void)shared_add(&c->owners, 1, relaxed); /* the caller is one meanwhile */
	}
	lock_leave(lock);

	if (!fresh)
		return -EALREADY;
	if (resolved)
		completion_run(&c->waiter);
	return 0;
}

struct swansong_completion *swansong_completion_unref(struct swansong_completion *c)
{
	struct lock *lock;
	bool forgotten, wait;

	if (!c)
		return NULL;
	lock = &c->node->waiters.lock;

	lock_take(lock);
	forgotten = c->fn && !c->waiter.queued;
	if (!c->waiter.queued)
		list_remove(&c->waiter.link);
	c->cancelled = true;
	wait = c->running && !pthread_equal(c->runner, thread_self());
	lock_leave(lock);

	if (wait)
		(void)latch_wait(&c->returned, UINT64_MAX);
	if (forgotten)
		completion_put(c);
	completion_put(c);
	return NULL;
}

int swansong_wait(struct swansong *s, uint64_t deadline)
{
	struct waiter w;
	int r;

	misuse_of_node(s);
	waiter_init(&w);
	count_watch(s, &w);
	r = misuse_latch_wait(&w.resolved, deadline, s, __func__);
	count_unwatch(s, &w);
	return r;
}
