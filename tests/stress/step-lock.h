#pragma once

/* The lock of src/swansong/base/lock-private.h in a build with SWANSONG_STEP: the test waits for it. */

#include "swansong/base/atomic-private.h"

void swansong_step_lock(const _Atomic int *taken); /* returns when *@taken is 0 */

struct lock {
	_Atomic int taken, handed;
	int owner;
	bool marked;
	unsigned int wanted; /* a bit for each thread that waits */
};

static inline unsigned int lock_self(void)
{
	return 1u << ((unsigned int)thread_self() + 1) % 32; /* -1 is the test itself */
}

static inline void lock_take(struct lock *l)
{
	l->wanted |= lock_self();
	swansong_step_lock(&l->taken);
	l->wanted &= ~lock_self();
	l->handed = 0;
	l->taken = 1;
	l->owner = (int)thread_self();
}

static inline bool lock_is_wanted(struct lock *l)
{
	return l->wanted & ~lock_self();
}

/* Other threads wait: one of them goes on. */
static inline void lock_pass(struct lock *l)
{
	bool marked;

	swansong_step(&l->taken);
	marked = l->marked;
	l->marked = false;
	l->taken = 0;
	l->handed = 1;
	swansong_stepped();
	swansong_step_lock(&l->handed);
	lock_take(l);
	l->marked |= marked;
}

static inline bool lock_take_or_mark(struct lock *l)
{
	bool own;

	swansong_step(&l->taken);
	own = l->taken && l->owner == (int)thread_self();
	l->marked |= own;
	swansong_stepped();
	if (!own)
		lock_take(l);
	return !own;
}

static inline bool lock_leave(struct lock *l)
{
	bool marked;

	swansong_step(&l->taken);
	marked = l->marked;
	l->marked = false;
	l->taken = 0;
	swansong_stepped();
	return marked;
}
