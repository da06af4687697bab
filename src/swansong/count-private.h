#pragma once

/* The accounting: how many guards there are, and what keeps a node alive.  See count.c. */

#include <stdbool.h>

#include "swansong/node-private.h"

/* The two words of a new node; it has one pin. */
void count_init(struct swansong *n, bool stopped);

#define COUNT_GUARD   UINT64_C(1)
#define COUNT_GUARDS  ((UINT64_C(1) << 60) - 1)
#define COUNT_PINNED  (UINT64_C(1) << 60) /* something else than guards keeps the node */
#define COUNT_TRACKED (UINT64_C(1) << 61) /* home: guards that see it are to be recorded */
#define COUNT_FORWARD (UINT64_C(1) << 61) /* total: what is here is in the parent's total, too */
#define COUNT_COUNTED (UINT64_C(1) << 62) /* home: what is here is in total, too */
#define COUNT_WAITED  (UINT64_C(1) << 62) /* total: there has been a waiter */
#define COUNT_MORE    (UINT64_C(1) << 63) /* home: it is COUNTED or TRACKED; the sign, to be quick */

/* The word of the chain that guards begin at; those before it need not be looked at. */
enum count_entry {
	COUNT_FROM_HOME,
	COUNT_FROM_TOTAL, /* home is COUNTED */
};

/* Instead of a value of home: it has not been looked at. */
#define COUNT_ELSEWHERE UINT64_MAX

static inline bool count_is_dead(uint64_t word)
{
	return !(word & (COUNT_GUARDS | COUNT_PINNED));
}

/*
 * Takes a guard; the caller has a handle on @n, or a guard.  If this returns false that was all;
 * otherwise @home, the value that was there, is to be passed to count_take_rest(), which says whether
 * the guard is to be recorded.
 */
static inline bool count_take(struct swansong *n, uint64_t *home)
{
	*home = COUNT_ELSEWHERE;
	/* Relaxed: the rest looks again. */
	if (shared_load(&n->entry, relaxed) != COUNT_FROM_HOME)
		return true;
	/*
	 * Acquire: a guard that is counted by a stopped node was taken by somebody who sees the
	 * stop, which was latched before.  And who is to be recorded sees where.
	 */
	*home = shared_add(&n->home, COUNT_GUARD, acquire);
	return *home & COUNT_MORE;
}

bool count_take_rest(struct swansong *n, uint64_t home);

/* Sets COUNT_TRACKED, for guards that are taken from now on.  Under the tree's lock. */
void count_track(struct swansong *n);

/*
 * Drops a guard.  If this returns false that was all, and the node must not be touched any more;
 * otherwise @home, the value that it left there, is to be passed to count_drop_rest().
 */
static inline bool count_drop(struct swansong *n, uint64_t *home)
{
	*home = COUNT_ELSEWHERE;
	if (shared_load(&n->entry, relaxed) != COUNT_FROM_HOME)
		return true;
	/*
	 * Release: what was done under this guard, to the stop that reads the count, or to whoever
	 * buries the node.  Acquire: that may be this thread.
	 */
	*home = shared_sub(&n->home, COUNT_GUARD, acq_rel) - COUNT_GUARD;
	return (int64_t)*home <= 0; /* MORE, or neither guards nor PINNED */
}

void count_drop_rest(struct swansong *n, uint64_t home, struct aftermath *after);

/* The caller has a handle on @n. */
void count_pin(struct swansong *n);
void count_unpin(struct swansong *n, struct aftermath *after);

/* Resolves @w once @n is complete; at once if it is.  The caller has a pin until count_unwatch(). */
void count_watch(struct swansong *n, struct waiter *w);
void count_unwatch(struct swansong *n, struct waiter *w);

/* No guard in the subtree, and stopped.  Acquire: what was done under the guards. */
bool count_is_complete(const struct swansong *n);

/*
 * These under the tree's lock.
 *
 * count_stop() has the node count its subtree from now on, and its parent, if @forward, the node.
 * All children have been through count_stop(.., true, ..) or count_forward() then.  count_forward()
 * is for a child that was stopped before its parent.
 */
bool count_is_stopped(const struct swansong *n);
void count_stop(struct swansong *n, bool forward, struct aftermath *after);
void count_forward(struct swansong *n);

/* A node that is not stopped knows only its own guards, a stopped one those of its subtree. */
uint64_t count_guards(const struct swansong *n);

/* @n is dead: waits until nobody has a foot in the door. */
void count_bury(struct swansong *n);
