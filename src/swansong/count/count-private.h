#pragma once

/* The accounting: how many guards there are, and what keeps a node alive.  See count.c. */

#include <stdbool.h>

#include "swansong/count/object-private.h"
#include "swansong/count/percpu-private.h"
#include "swansong/count/tally-private.h"

/* The words of a new node; it has one pin.  Its parent, tree and tally are there. */
void count_init(struct swansong *n, bool stopped);

#define COUNT_GUARD   UINT64_C(1)
#define COUNT_GUARDS  ((UINT64_C(1) << 60) - 1)
#define COUNT_PINNED  (UINT64_C(1) << 60) /* something else than guards keeps the node */
#define COUNT_TRACKED (UINT64_C(1) << 61) /* home: guards that see it are to be recorded */
#define COUNT_FORWARD \
	(UINT64_C(1) << 61) /* total: a subtree with guards is one in the parent's, too */
#define COUNT_COUNTED (UINT64_C(1) << 62) /* home: what is here is in total, too */
#define COUNT_WAITED  (UINT64_C(1) << 62) /* total: there has been a waiter */
#define COUNT_MORE    (UINT64_C(1) << 63) /* home: COUNTED or TRACKED; the sign, to be quick */
#define COUNT_SHOWN   (UINT64_C(1) << 63) /* total: it is one in the parent's */

/*
 * The word of the chain that guards begin at; those before it need not be looked at.  0 is
 * known to programs (swansong/guard.h).
 */
enum count_entry {
	COUNT_FROM_HOME = 0,
	COUNT_FROM_CPU,	  /* percpu, or home if that refuses */
	COUNT_FROM_TOTAL, /* home is COUNTED */
};

#define COUNT_TOLD UINT32_C(4) /* and the node has a tally, which counts each guard besides */

static inline bool count_is_dead(uint64_t word)
{
	return !(word & (COUNT_GUARDS | COUNT_PINNED));
}

/* count_begin() at total, or at home in place of a processor that has no slot or not any more. */
uint64_t count_begin_elsewhere(struct swansong *n, uint64_t delta);

/*
 * Begins to take (@delta is COUNT_GUARD) or to drop (-COUNT_GUARD) a guard.  Returns what that has
 * left at home, or, if home had nothing to do with it, what is as good for the functions below.
 * Unless these are to be called, that was all, and whoever drops must not touch the node any more.
 */
static inline uint64_t count_begin(struct swansong *n, uint64_t delta)
{
	uint32_t entry = plain_load(&n->entry, acquire); /* what it leads to */

	/*
	 * Acquire, in taking: a guard that is counted by a stopped node was taken by somebody who
	 * sees the stop, which was latched before.  And who is to be recorded sees where.
	 * Release, in dropping: what was done under this guard, to the stop that reads the count,
	 * or to whoever buries the node.  Acquire: that may be this thread.
	 */
	if (__builtin_expect(entry & COUNT_TOLD, 0))
		tally_add(n->tally, delta);
	entry &= ~COUNT_TOLD;
	if (entry == COUNT_FROM_HOME)
		return plain_add(&n->home, delta, acq_rel) + delta;
	if (entry == COUNT_FROM_CPU && percpu_add(n->percpu, delta))
		return COUNT_PINNED; /* none of the below */
	return count_begin_elsewhere(n, delta);
}

/* Whether count_take_rest() is to be called, which returns whether the guard is to be recorded. */
static inline bool count_take_has_rest(uint64_t home)
{
	return home & COUNT_MORE;
}

bool count_take_rest(struct swansong *n, uint64_t home);

/* Whether count_drop_rest() is to be called. */
static inline bool count_drop_has_rest(uint64_t home)
{
	return (int64_t)home <= 0; /* COUNT_MORE, or it is dead */
}

void count_drop_rest(struct swansong *n, uint64_t home, struct aftermath *after);

/* Sets COUNT_TRACKED, for guards that are taken from now on.  Under the tree's lock. */
void count_track(struct swansong *n);

/*
 * Has guards counted by @percpu from now on, and returns NULL; or returns @percpu, if the node is
 * stopped or its guards are recorded, or if it had one before.  Under the tree's lock.
 */
struct percpu *count_spread(struct swansong *n, struct percpu *percpu);

/* The caller has a handle on @n. */
void count_pin(struct swansong *n);
void count_unpin(struct swansong *n, struct aftermath *after);

/*
 * Resolves @w once @n is complete; at once if it is.  The caller has a pin until count_unwatch().
 */
void count_watch(struct swansong *n, struct waiter *w);
void count_unwatch(struct swansong *n, struct waiter *w);

/* False if @n is complete; otherwise waiters_sleep() with *@turn lasts until it has been. */
bool count_begin_wait(struct swansong *n, uint32_t *turn);

/* No guard in the subtree, and stopped.  Acquire: what was done under the guards. */
bool count_is_complete(const struct swansong *n);

/*
 * These under the tree's lock.
 *
 * count_stop() has the node count its subtree from now on, and its parent, if @forward, the node.
 * All children have been through count_stop(.., true, ..) or count_forward() then, or were born
 * stopped.  count_forward() is for a child that was stopped before its parent; again it does nothing.
 */
bool count_is_stopped(const struct swansong *n);
void count_stop(struct swansong *n, bool forward, struct aftermath *after);
void count_forward(struct swansong *n);

/*
 * Under the tree's lock: the guards on this node, but for its children that are counted here; and
 * whether this node is in its parent's number so.
 */
uint64_t count_guards(const struct swansong *n);
bool count_is_shown(const struct swansong *n);

/* @n is dead, and its thread has been through the tree's lock since. */
void count_bury(struct swansong *n);
