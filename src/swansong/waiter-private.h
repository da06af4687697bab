#pragma once

/* Those who wait for a node to be complete, and what there is to do for them once it is. */

#include "base/list.h"
#include "swansong/atomic-private.h"
#include "swansong/latch-private.h"

struct waiter {
	struct list link;
	struct latch resolved;

	/*
	 * Called once after it has resolved, with no lock held, unless NULL.  The waiter must stay
	 * valid until then; "queued" says that it has left the node's list and will be called.
	 */
	void (*run)(struct waiter *w);
	bool queued;
};

/* The waiters of one node; the lock also covers their fields. */
struct waiters {
	struct lock lock;
	struct list list;
};

static inline void waiters_init(struct waiters *ws)
{
	ws->lock = (struct lock)LOCK_INITIALIZER;
	list_init(&ws->list);
}

static inline void waiter_init(struct waiter *w)
{
	*w = (struct waiter){ .resolved = LATCH_INITIALIZER(false) };
	list_init(&w->link);
}

/* With the lock held: resolves all of them, and moves those that want to be called to @ready. */
void waiters_resolve(struct waiters *ws, struct list *ready);

/* Calls and removes everything on @ready.  No lock may be held. */
void waiters_run(struct list *ready);
