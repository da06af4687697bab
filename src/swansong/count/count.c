/*
 * Accounting and lifetime.
 *
 * While a node and its ancestors run, no thread can see whether they are empty: the state is
 * RUNNING either way, and swansong_guard_count() may add up the counts of a subtree.  So a guard is
 * counted at home only, by one addition, at any depth.  A stop then moves the counts up, once, and
 * from then on each node shows its parent whether there are guards below it.
 *
 *	home	guards taken on this node; BIAS above that while some are counted for each processor
 *	total	from the stop on, the guards of the node and its children that are shown to it; BIAS
 *		above that until it is exact
 *
 * COUNTED is a flag of home: total counts the guards that home counts.  A guard is added to home,
 * and, if the value that the addition returned has the flag, to total; it is dropped in the same
 * way.  The flag is never cleared.  So home need not be touched once it is known to have the flag.
 * The entry(n) makes that known: once it is COUNT_FROM_TOTAL, guards begin at total.  FORWARD is a
 * flag of total, and it is never cleared either: the parent counts this node while it is not empty.
 *
 *	complete(n)  <=>  the guards of total(n) are 0, and it has no BIAS
 *
 * The node is dead when the valid word, home until it is COUNTED, then total, has neither guards nor PINNED;
 * exactly one read-modify-write makes it dead, and its thread buries the node.  The proofs of both, against
 * late guards, drops, stops and slots for each processor, are in counting.md beside this file.
 *
 * Programs have the common case of count_begin() inlined, at home and with nothing after it
 * (swansong/guard.h).  It is the same operation on the same words with the same orders, so that the proofs
 * hold for it.  As a test cannot step an inlined operation, it is left out where the library is stepped.
 *
 * Counts have 60 bits.  At a thousand million guards a second, never dropped, it takes nine years
 * to reach BIAS, and no check is needed.
 */
#include "swansong/count/count-private.h"

#include "swansong/count/misuse-private.h"

#define COUNT_BIAS (UINT64_C(1) << 58)

/* The entry, an enum count_entry, without its flag; @order is named at each use. */
#define count_entry(n, order) (plain_load(&(n)->entry, order) & ~COUNT_TALLIED)
#define count_lead(n, to, order) \
	plain_store(&(n)->entry, (uint32_t)(to) | ((n)->tally ? COUNT_TALLIED : 0), order)

void count_init(struct swansong *n, bool stopped)
{
	shared_init(&n->pins, 1);
	n->entry = (stopped ? COUNT_FROM_TOTAL : COUNT_FROM_HOME) | (n->tally ? COUNT_TALLIED : 0);
	n->home = COUNT_PINNED | (stopped ? COUNT_COUNTED | COUNT_MORE : 0);
	shared_init(&n->total, COUNT_PINNED | (stopped ? COUNT_FORWARD : COUNT_BIAS));
}

struct percpu *count_spread(struct swansong *n, struct percpu *percpu)
{
	/* Relaxed: it changes under the lock, and guards begin with the entry. */
	if (n->percpu || plain_load(&n->home, relaxed) & COUNT_MORE)
		return percpu;
	n->percpu = percpu;
	(void)plain_add(&n->home, COUNT_BIAS, relaxed);
	/* Release: the slots, and the bias before any guard is dropped there. */
	count_lead(n, COUNT_FROM_CPU, release);
	return NULL;
}

/* Under the tree's lock: makes home count all guards on @n. */
static void count_gather(struct swansong *n)
{
	uint64_t sum;

	if (count_entry(n, relaxed) != COUNT_FROM_CPU) /* changes under the lock */
		return;
	sum = percpu_close(n->percpu);
	/* Release: everything done under guards that were dropped. */
	(void)plain_add(&n->home, sum - COUNT_BIAS, release);
	/* Release: the addition, to the thread that drops the last pin. */
	count_lead(n, COUNT_FROM_HOME, release);
}

void count_track(struct swansong *n)
{
	count_gather(n); /* a record takes a lock anyhow */
	/* Release: the records. */
	(void)plain_or(&n->home, COUNT_TRACKED | COUNT_MORE, release);
}

/*
 * Ends the program if more guards were dropped than taken, so that @word has a count below zero.  At
 * home the next drop of a pin or the stop finds that; a total, at once.
 */
static void count_check(uint64_t word)
{
	if (__builtin_expect((word & COUNT_GUARDS) >= 2 * COUNT_BIAS, 0))
		misuse_end("swansong_guard_drop", "more guards were dropped than taken");
}

static void count_died(struct swansong *n, struct aftermath *after)
{
	n->next_dead = after->dead;
	after->dead = n;
}

uint64_t count_begin_elsewhere(struct swansong *n, uint64_t delta)
{
	/* The orders are those of count_begin().  Loads again, as the entry may have changed. */
	if (count_entry(n, acquire) == COUNT_FROM_TOTAL)
		return plain_load(&n->home, acquire);
	return plain_add(&n->home, delta, acq_rel) + delta;
}

/* Adds a guard to the total, and shows it to the nodes above. */
static void count_arrive(struct swansong *n)
{
	const uint64_t flags = COUNT_FORWARD | COUNT_SHOWN;
	struct swansong *top = n;

	/* Acquire: the additions above, if SHOWN is set. */
	while ((shared_add(&top->total, COUNT_GUARD, acquire) & flags) == COUNT_FORWARD)
		top = top->parent;
	for (; n != top; n = n->parent) {
		/* Release: the additions above.  Acquire: the additions of the thread that set SHOWN. */
		if (shared_or(&n->total, COUNT_SHOWN, acq_rel) & COUNT_SHOWN)
			(void)shared_sub(&n->parent->total, COUNT_GUARD,
					 relaxed); /* never leaves 0 */
	}
}

bool count_take_rest(struct swansong *n, uint64_t home)
{
	if (home & COUNT_COUNTED)
		count_arrive(n);
	return home & COUNT_TRACKED;
}

/*
 * Adds @delta to the total, with all that follows from it; @locked: the tree's lock is held.
 * Returns true if SHOWN has changed, so that the parent's total has to change by one.
 */
static bool count_change(struct swansong *n, uint64_t delta, bool locked, struct aftermath *after)
{
	bool ours = false;
	uint64_t old = shared_load(&n->total, relaxed); /* a guess, which the exchange checks */
	uint64_t next;
	bool ends;

	/*
	 * Release: everything done under this guard, or under the guards that are carried, to each
	 * thread that sees the zero.  Acquire: this may be the zero, which stands for all guards.
	 */
	do {
		next = old + delta;
		if (!(next & COUNT_GUARDS))
			next &= ~COUNT_SHOWN;
		else if (next & ~old & COUNT_FORWARD)
			next |= COUNT_SHOWN;
		ends = (old & COUNT_GUARDS) && !(next & COUNT_GUARDS);
		if (ends && (old & COUNT_WAITED) && !locked) {
			lock_take(&n->tree->lock);
			locked = ours = true;
		}
	} while (!shared_replace(&n->total, &old, next, acq_rel, relaxed));

	count_check(next);
	if (ends && (next & COUNT_WAITED)) {
		aftermath_take(after, n->tree, &n->waiters.list);
		waiters_wake(&n->waiters);
	}
	if (ours)
		tree_leave(n->tree);
	if (count_is_dead(next))
		count_died(n, after);
	return (old ^ next) & COUNT_SHOWN;
}

void count_drop_rest(struct swansong *n, uint64_t home, struct aftermath *after)
{
	if (!(home & COUNT_COUNTED)) {
		if (count_is_dead(home))
			count_died(n, after);
		return;
	}
	while (n) {
		struct swansong *parent = n->parent;

		n = count_change(n, -COUNT_GUARD, false, after) ? parent : NULL;
	}
}

void count_pin(struct swansong *n)
{
	(void)shared_add(&n->pins, 1, relaxed); /* the caller has a pin or a handle meanwhile */
}

void count_unpin(struct swansong *n, struct aftermath *after)
{
	uint64_t home;

	/* Release: everything done with the node.  Acquire: the last pin stands for all pins. */
	if (shared_sub(&n->pins, 1, acq_rel) != 1)
		return;

	/* Acquire: if another thread has gathered, it has finished that. */
	if (count_entry(n, acquire) == COUNT_FROM_CPU) {
		lock_take(&n->tree->lock);
		count_gather(n);
		tree_leave(n->tree);
	}
	home = plain_sub(&n->home, COUNT_PINNED, acq_rel) - COUNT_PINNED; /* as above */
	count_check(home);
	if (home & COUNT_COUNTED)
		(void)count_change(n, -COUNT_PINNED, false, after);
	else if (count_is_dead(home))
		count_died(n, after);
}

/* Under the tree's lock: false if @n is complete; otherwise its end will take that lock. */
static bool count_has_end_ahead(struct swansong *n)
{
	/* Acquire: if it is complete, everything done under the guards. */
	return shared_or(&n->total, COUNT_WAITED, acquire) & COUNT_GUARDS;
}

void count_watch(struct swansong *n, struct waiter *w)
{
	lock_take(&n->tree->lock);
	if (count_has_end_ahead(n))
		list_append(&n->waiters.list, &w->link);
	else
		latch_set(&w->resolved);
	tree_leave(n->tree);
}

void count_unwatch(struct swansong *n, struct waiter *w)
{
	lock_take(&n->tree->lock);
	list_remove(&w->link);
	tree_leave(n->tree);
}

bool count_begin_wait(struct swansong *n, uint32_t *turn)
{
	bool ahead;

	lock_take(&n->tree->lock);
	ahead = count_has_end_ahead(n);
	if (ahead)
		*turn = waiters_turn(&n->waiters);
	tree_leave(n->tree);
	return ahead;
}

bool count_is_complete(const struct swansong *n)
{
	return !(shared_load(&n->total, acquire) & COUNT_GUARDS);
}

bool count_is_stopped(const struct swansong *n)
{
	return plain_load(&n->home, relaxed) & COUNT_COUNTED; /* changes under the lock */
}

void count_stop(struct swansong *n, bool forward, struct aftermath *after)
{
	uint64_t home;
	bool is_shown;

	count_gather(n);
	/*
	 * Acquire: everything done under guards that were dropped.  Release: the stop, to the
	 * threads that take guards.
	 */
	home = plain_or(&n->home, COUNT_COUNTED | COUNT_MORE, acq_rel);
	count_check(home);
	/* Release: the flag, to guards that begin at total. */
	count_lead(n, COUNT_FROM_TOTAL, release);
	if (count_is_dead(home)) {
		/* Its words are no longer used; total is empty for swansong_guard_count(). */
		(void)shared_sub(&n->total, COUNT_BIAS, relaxed);
		return;
	}

	is_shown = count_change(n,
				(home & COUNT_GUARDS) - COUNT_BIAS - (~home & COUNT_PINNED) +
					(forward ? COUNT_FORWARD : 0),
				true, after);
	/* Release: everything done under dropped guards, to threads that see the parent's zero. */
	if (is_shown)
		(void)shared_add(&n->parent->total, COUNT_GUARD, release);
}

void count_forward(struct swansong *n)
{
	uint64_t total = shared_load(&n->total, relaxed); /* a guess, which the exchange checks */
	uint64_t next;

	/* Acquire: everything done under guards, to hand it on.  Release: as in count_stop(). */
	do {
		if (total & COUNT_FORWARD) /* it was born stopped, or another stop was here */
			return;
		next = total | COUNT_FORWARD | (total & COUNT_GUARDS ? COUNT_SHOWN : 0);
	} while (!shared_replace(&n->total, &total, next, acq_rel, relaxed));
	if (next & COUNT_SHOWN)
		(void)shared_add(&n->parent->total, COUNT_GUARD, release);
}

uint64_t count_guards(const struct swansong *n, bool *ret_shown)
{
	/* Relaxed: the number is only displayed.  Both are of one load, as they change together. */
	bool stopped = count_is_stopped(n);
	uint64_t word = stopped ? shared_load(&n->total, relaxed) : plain_load(&n->home, relaxed);
	uint64_t guards = word & COUNT_GUARDS;

	*ret_shown = stopped && (word & COUNT_SHOWN);
	if (count_entry(n, relaxed) != COUNT_FROM_CPU)
		return guards;
	guards += percpu_sum(n->percpu) - COUNT_BIAS;
	return (int64_t)guards > 0 ? guards : 0; /* the sum may contain a drop without its take */
}

void count_bury(struct swansong *n)
{
	n->percpu = percpu_free(n->percpu);
}
