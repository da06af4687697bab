#pragma once

/*
 * What waits for a node to be complete: completions, and threads that sleep.  All under the lock of
 * the node's tree.
 */

#include "base/list.h"
#include "swansong/base/latch-private.h"

struct waiter {
	struct list link;
	struct latch resolved;

	/*
	 * Called once after it has resolved, with no lock held, unless NULL.  The waiter must stay
	 * valid until then; "queued" says that it has left the node's list and will be called.
	 */
	bool (*run)(struct waiter *w);
	bool queued;
	/* Called after it, if it has returned true: with no lock held, and in no signal handler. */
	void (*end)(struct waiter *w);
};

/* The waiters of one node. */
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

/* Wakes the threads that sleep. */
void waiters_wake(struct waiters *ws);

/* Resolves the first of the list @ending, and moves it to @ready if it is to be called. */
void waiters_resolve_one(struct list *ending, struct list *ready);

/*
 * Calls and removes everything on @ready, and moves to @over those that are over.  No lock may be
 * held.
 */
void waiters_run(struct list *ready, struct list *over);

/* A thread is going to sleep until the next resolution, for which waiters_sleep() is told this. */
uint32_t waiters_turn(struct waiters *ws);

/* With no lock held: sleeps until a resolution after @turn.  0 or -ETIMEDOUT. */
int waiters_sleep(struct waiters *ws, uint32_t turn, uint64_t deadline);
