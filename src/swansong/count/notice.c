/*
 * A notice belongs to its owner, and to its function from notice_call() until the function has
 * returned or is cancelled.  The last of both to let go releases the notice.
 */
#include "swansong/count/notice-private.h"

#include "swansong/base/cancel-private.h"
#include "swansong/count/misuse-private.h"

void notice_init(struct notice *n, struct tree *tree, void (*end)(struct waiter *w))
{
	*n = (struct notice){
		.tree = tree,
		.owners = 1,
		.returned = LATCH_INITIALIZER(false),
	};
	waiter_init(&n->waiter);
	n->waiter.end = end;
}

/* Removes one owner.  Returns true for the last owner, which has to release the notice. */
static bool notice_put(struct notice *n)
{
	/* Release: the use of the notice by this owner.  Acquire: all uses, before it is freed. */
	return shared_sub(&n->owners, 1, acq_rel) == 1;
}

/* The notice whose function runs on this thread, the innermost. */
static _Thread_local struct notice *own_notice;

/* Waits for the end of a function.  Ends the program if that waits for the one on this thread. */
static void notice_await(struct notice *n)
{
	struct notice *own = MISUSE_IS_CAUGHT ? own_notice : NULL;

	/* Of the threads that wait for each other, the last one sees all others. */
	if (own)
		(void)shared_swap(&own->awaited, n, acq_rel);
	for (struct notice *x = n; own && x; x = shared_load(&x->awaited, acquire))
		if (x == own)
			misuse_end("swansong_completion_unref",
				   "each waits for the end of the other's function");
	(void)latch_wait(&n->returned, UINT64_MAX);
	if (own)
		shared_store(&own->awaited, NULL, release);
}

static bool notice_run(struct waiter *w)
{
	CANCEL_DISABLED_SCOPE; /* the waiters after this one would be lost */
	struct notice *n = container_of(w, struct notice, waiter);

	lock_take(&n->tree->lock);
	if (!n->cancelled) {
		n->running = true;
		n->runner = thread_self();
		n->generation = fork_generation();
	}
	tree_leave(n->tree);

	/* A function that runs cannot be cancelled. */
	if (n->running) {
		struct notice *outer = own_notice;

		own_notice = n;
		misuse_call(n->fn, n->arg);
		own_notice = outer;
		latch_set(&n->returned);
	}
	return notice_put(n);
}

int notice_call(struct notice *n, const struct latch *happened, struct list *list,
		void (*fn)(void *arg), void *arg)
{
	bool fresh, resolved;

	lock_take(&n->tree->lock);
	fresh = !n->fn;
	resolved = latch_is_set(happened);
	if (fresh) {
		n->fn = fn;
		n->arg = arg;
		n->waiter.run = notice_run;
		n->waiter.queued = resolved; /* by this call */
		if (resolved)
			list_remove(&n->waiter.link);	  /* it may still be on a list */
		(void)shared_add(&n->owners, 1, relaxed); /* the caller is an owner meanwhile */
		if (!resolved && list)
			list_append(list, &n->waiter.link);
	}
	tree_leave(n->tree);

	if (!fresh)
		return -EALREADY;
	if (resolved && notice_run(&n->waiter))
		n->waiter.end(&n->waiter);
	return 0;
}

void notice_drop(struct notice *n)
{
	bool forgotten, wait;

	lock_take(&n->tree->lock);
	forgotten = n->fn && !n->waiter.queued;
	if (!n->waiter.queued)
		list_remove(&n->waiter.link);
	n->cancelled = true;
	wait = n->running && !pthread_equal(n->runner, thread_self()) &&
	       n->generation == fork_generation();
	tree_leave(n->tree);

	if (wait)
		notice_await(n);
	if (forgotten)
		(void)notice_put(n); /* the caller is an owner, too */
	if (notice_put(n))
		n->waiter.end(&n->waiter);
}
