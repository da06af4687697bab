#pragma once

/*
 * Waiters for a node to be complete: completions, and threads that sleep.  All of it is under the
 * lock of the node's tree.
 */

#include "swansong/base/latch-private.h"

struct waiter {
	struct list link;
	struct latch resolved;

	/*
	 * Called once after the waiter has resolved, with no lock held, unless NULL.  The waiter
	 * must stay valid until then.  While "queued" is true it has left the node's list and the
	 * call is ahead.
	 */
	bool (*run)(struct waiter *w);
	bool queued;
	/* Called after run() returned true, with no lock held, and in no signal handler. */
	void (*end)(struct waiter *w);
};

struct waiters {
	struct list list;
	_Atomic uint32_t turn; /* of resolutions, times 2; odd: threads may sleep */
};

static inline void waiters_init(struct waiters *ws)
{
	list_init(&ws->list);
	shared_init(&ws->turn, 0);
}

static inline void waiter_init(struct waiter *w)
{
	*w = (struct waiter){ .resolved = LATCH_INITIALIZER(false) };
	list_init(&w->link);
}

void waiters_wake(struct waiters *ws);

/* Resolves the first waiter of @ending; moves it to @ready if its function is to be called. */
void waiters_resolve_one(struct list *ending, struct list *ready);

/*
 * Removes each waiter from @ready and calls its run(); moves it to @over if that returns true.  No
 * lock may be held.
 */
void waiters_run(struct list *ready, struct list *over);

/* Announces that a thread is going to sleep.  Returns the turn to pass to waiters_sleep(). */
uint32_t waiters_turn(struct waiters *ws);

/* Sleeps until a resolution after @turn, with no lock held.  Returns 0 or -ETIMEDOUT. */
int waiters_sleep(struct waiters *ws, uint32_t turn, uint64_t deadline);
