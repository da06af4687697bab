/*
 * A completion is on the list.  A thread that waits for the node itself is not, since its list
 * entry would be on its stack: it sleeps on a number that each resolution changes.  So the copy of
 * a node in a forked process refers to no thread.
 */
#include "swansong/base/waiter-private.h"

#define TURN_SLEEPERS UINT32_C(1)
#define TURN	      UINT32_C(2)

void waiters_wake(struct waiters *ws)
{
	uint32_t turn = shared_load(&ws->turn, relaxed); /* changes under the lock */

	/* Release: everything done under the guards, to the threads. */
	shared_store(&ws->turn, (turn & ~TURN_SLEEPERS) + TURN, release);
	if (turn & TURN_SLEEPERS)
		futex_wake(&ws->turn, INT_MAX);
}

void waiters_resolve_one(struct list *ending, struct list *ready)
{
	struct waiter *w = list_entry(list_take(ending), struct waiter, link);

	if (w->run) {
		w->queued = true;
		list_append(ready, &w->link);
	}
	/* The owner may free the waiter as soon as the lock is left, and not before. */
	latch_set(&w->resolved);
}

void waiters_run(struct list *ready, struct list *over)
{
	struct waiter *w;

	/* This thread alone has it then, and its function was not called before. */
	list_for_each_taken (w, ready, link)
		if (w->run(w))
			list_append(over, &w->link);
}

uint32_t waiters_turn(struct waiters *ws)
{
	return shared_or(&ws->turn, TURN_SLEEPERS, relaxed) | TURN_SLEEPERS; /* under the lock */
}

static bool waiters_is_turn(struct waiters *ws, uint32_t turn, uint32_t *now)
{
	/* Acquire: everything done under the guards. */
	*now = shared_load(&ws->turn, acquire);
	return (*now | TURN_SLEEPERS) == turn;
}

int waiters_sleep(struct waiters *ws, uint32_t turn, uint64_t deadline)
{
	uint32_t now;

	while (waiters_is_turn(ws, turn, &now))
		if (futex_sleep(&ws->turn, now, deadline) < 0)
			return waiters_is_turn(ws, turn, &now) ? -ETIMEDOUT : 0;
	return 0;
}
