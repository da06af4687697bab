#pragma once

/*
 * A lock of one word that knows the thread which holds it, and a condition to wait for under it.
 * No thread may wait for a lock that it holds; a signal handler can see that its thread does.  See
 * lock.c.
 */

#include "swansong/base/atomic-private.h"

#ifdef SWANSONG_STEP
#include "tests/stress/step-lock.h"
#else

struct lock {
	_Atomic uint64_t owner; /* the thread; 0 if there is none */
};

/* The number of a thread has none of these bits. */
#define LOCK_WAITED UINT64_C(1) /* threads may sleep */
#define LOCK_MARKED UINT64_C(2) /* see lock_take_or_mark() */

#define LOCK_HANDED UINT64_C(4) /* no thread holds it, see lock_pass() */

/* The slow path of lock_take(): another thread holds the lock. */
void lock_wait(struct lock *l, uint64_t self);

/* Returns true if other threads may wait for the lock, which this thread holds. */
static inline bool lock_is_wanted(struct lock *l)
{
	return shared_load(&l->owner, relaxed) & LOCK_WAITED; /* a guess */
}

/* Lets one of the waiting threads go first, and takes the lock again. */
void lock_pass(struct lock *l);

void lock_wake(struct lock *l);

static inline uint64_t lock_self(void)
{
	return (uint64_t)(uintptr_t)thread_self();
}

static inline void lock_take(struct lock *l)
{
	uint64_t self = lock_self();
	uint64_t owner = 0;

	/* Acquire: everything done under the lock. */
	if (!shared_replace(&l->owner, &owner, self, acquire, relaxed))
		lock_wait(l, self);
}

/*
 * lock_take() for a signal handler: if this thread holds the lock, it marks the lock and returns
 * false.
 */
static inline bool lock_take_or_mark(struct lock *l)
{
	uint64_t self = lock_self();
	uint64_t owner = 0;

	if (shared_replace(&l->owner, &owner, self, acquire, relaxed)) /* as in lock_take() */
		return true;
	if ((owner & ~(LOCK_WAITED | LOCK_MARKED)) != self) {
		lock_wait(l, self);
		return true;
	}
	(void)shared_or(&l->owner, LOCK_MARKED, relaxed); /* this thread holds it */
	return false;
}

/* Leaves the lock.  Returns true if it was marked. */
static inline bool lock_leave(struct lock *l)
{
	/* Release: everything done under the lock. */
	uint64_t owner = shared_swap(&l->owner, 0, release);

	if (owner & LOCK_WAITED)
		lock_wake(l);
	return owner & LOCK_MARKED;
}

#endif

#define LOCK_INITIALIZER \
	{                \
		0        \
	}

/* A number that counts changes of data under a lock, for threads that wait for a change. */
struct condition {
	_Atomic uint32_t changes;
};

#define CONDITION_INITIALIZER \
	{                     \
		0             \
	}

/*
 * Leaves the lock, sleeps, and takes the lock again.  Returns 0, also without reason, or
 * -ETIMEDOUT.
 */
static inline int condition_sleep(struct condition *c, struct lock *l, uint64_t deadline)
{
	uint32_t changes = shared_load(&c->changes, relaxed); /* under the lock */
	int r;

	(void)lock_leave(l);
	r = futex_sleep(&c->changes, changes, deadline);
	lock_take(l);
	return r;
}

/* Under the lock: wakes up to @threads that sleep; all for INT_MAX. */
static inline void condition_wake(struct condition *c, int threads)
{
	(void)shared_add(&c->changes, 1, relaxed); /* the lock orders the data */
	futex_wake(&c->changes, threads);
}
