#pragma once

/* The accounting: the number of guards, and the reasons for a node to live.  See counting.md. */

#include "swansong/count/object-private.h"
#include "swansong/count/tally-private.h"

/* Initializes the words of a new node, which has one pin.  Its parent, tree and tally are set. */
void count_init(struct swansong *n, bool stopped);

#define COUNT_GUARD   UINT64_C(1)
#define COUNT_GUARDS  ((UINT64_C(1) << 60) - 1)
#define COUNT_PINNED  (UINT64_C(1) << 60) /* pins keep the node */
#define COUNT_TRACKED (UINT64_C(1) << 61) /* home: guards that see the flag are to be recorded */
#define COUNT_FORWARD \
	(UINT64_C(1) << 61) /* total: while it has guards, it adds one to the parent's */
#define COUNT_COUNTED (UINT64_C(1) << 62) /* home: its guards are counted in total, too */
#define COUNT_WAITED  (UINT64_C(1) << 62) /* total: there has been a waiter */
#define COUNT_MORE    (UINT64_C(1) << 63) /* home: COUNTED or TRACKED; the sign, to be quick */
#define COUNT_SHOWN   (UINT64_C(1) << 63) /* total: it has added one to the parent's */

/*
 * The word of the chain that a guard begins at; the words before it can be skipped.  Programs know
 * the value 0 (swansong/guard.h).
 */
enum count_entry {
	COUNT_FROM_HOME = 0,
	COUNT_FROM_CPU,	  /* percpu, or home if percpu refuses */
	COUNT_FROM_TOTAL, /* home is COUNTED */
};

#define COUNT_TALLIED UINT32_C(4) /* a flag: the node has a tally, which also counts each guard */

static inline bool count_is_dead(uint64_t word)
{
	return !(word & (COUNT_GUARDS | COUNT_PINNED));
}

/* count_begin() at total, or at home if the processor has no slot, or the slots are closed. */
uint64_t count_begin_elsewhere(struct swansong *n, uint64_t delta);

/*
 * Begins to take (@delta is COUNT_GUARD) or to drop (-COUNT_GUARD) a guard.  Returns the new value
 * of home, or, if home was not changed, a value with the same meaning for the functions below.
 * Unless one of them is to be called, the guard is taken or dropped, and after a drop the caller
 * must not touch the node any more.
 */
static inline uint64_t count_begin(struct swansong *n, uint64_t delta)
{
	uint32_t entry = plain_load(&n->entry, acquire); /* the words that the entry leads to */

	/*
	 * Acquire, in taking: a guard that is counted by a stopped node was taken by a thread that
	 * sees the stop, which was latched before; and a guard that is to be recorded sees the
	 * records.
	 * Release, in dropping: everything done under this guard, to the stop that reads the count,
	 * or to the thread that buries the node.  Acquire: this thread may be the one that buries.
	 */
	if (__builtin_expect(entry & COUNT_TALLIED, 0))
		tally_add(n->tally, delta);
	entry &= ~COUNT_TALLIED;
	if (entry == COUNT_FROM_HOME)
		return plain_add(&n->home, delta, acq_rel) + delta;
	if (entry == COUNT_FROM_CPU && percpu_add(n->percpu, delta))
		return COUNT_PINNED; /* no function below is to be called */
	return count_begin_elsewhere(n, delta);
}

/*
 * Returns true if count_take_rest() is to be called.  That returns true if the guard is to be
 * recorded.
 */
static inline bool count_take_has_rest(uint64_t home)
{
	return home & COUNT_MORE;
}

bool count_take_rest(struct swansong *n, uint64_t home);

/* Returns true if count_drop_rest() is to be called. */
static inline bool count_drop_has_rest(uint64_t home)
{
	return (int64_t)home <= 0; /* COUNT_MORE is set, or the node is dead */
}

void count_drop_rest(struct swansong *n, uint64_t home, struct aftermath *after);

/* Under the tree's lock: sets COUNT_TRACKED, for guards that are taken from now on. */
void count_track(struct swansong *n);

/*
 * Under the tree's lock: has guards counted by @percpu from now on, and returns NULL.  Returns
 * @percpu if the node is stopped, if its guards are recorded, or if it has a percpu already.
 */
struct percpu *count_spread(struct swansong *n, struct percpu *percpu);

/* The caller of count_pin() has a handle on @n. */
void count_pin(struct swansong *n);
void count_unpin(struct swansong *n, struct aftermath *after);

/*
 * Resolves @w once @n is complete; at once if it is.  The caller has a pin until count_unwatch().
 */
void count_watch(struct swansong *n, struct waiter *w);
void count_unwatch(struct swansong *n, struct waiter *w);

/*
 * Returns false if @n is complete; otherwise waiters_sleep() with *@turn lasts until @n has been
 * complete.
 */
bool count_begin_wait(struct swansong *n, uint32_t *turn);

/*
 * Returns true if @n is stopped and its subtree has no guard.  Acquire: everything done under the
 * guards.
 */
bool count_is_complete(const struct swansong *n);

/*
 * The functions below are called under the tree's lock.
 *
 * count_stop() makes the node count its subtree from now on, and, if @forward, makes the parent
 * count the node.  By then each child has been through count_stop(.., true, ..) or count_forward(),
 * or was born stopped.  count_forward() is for a child that was stopped before its parent; a second
 * call does nothing.
 */
bool count_is_stopped(const struct swansong *n);
void count_stop(struct swansong *n, bool forward, struct aftermath *after);
void count_forward(struct swansong *n);

/*
 * Under the tree's lock: returns the guards on this node, and one for each child that is shown to it;
 * *ret_shown is true if this node is counted in its parent's number so.
 */
uint64_t count_guards(const struct swansong *n, bool *ret_shown);

/* Frees the parts of @n.  It is dead, and this thread has been through the tree's lock since. */
void count_bury(struct swansong *n);
