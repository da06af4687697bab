/*
 * The word of a lock holds the thread that holds the lock, and whether other threads may sleep.  A
 * thread that is woken takes the lock together with that mark, since more threads may sleep.  So
 * leaving a lock wakes one thread and forgets none.
 *
 * A thread that works for long passes the lock on in between.  If it only left the lock and took it
 * again, it would nearly always come before the thread that it has woken.  So it marks the lock as
 * handed on, and then only a thread that has slept takes it.  A signal handler may have interrupted
 * that thread and wait for the lock itself: so a sleep for a lock that is handed on ends after a
 * while in any case.
 *
 * The kernel sleeps on 32 bits, the lower half of the word, which has the mark.  Two threads may
 * have the same lower half.  Then a thread may sleep although the owner is not the one that it saw;
 * that owner wakes it, too.
 *
 * A lock needs no destructor: its memory may be freed by the thread that has held it last.  A late
 * wake-up by another thread only passes an address to the kernel, whatever is there by then.
 */
#include "swansong/base/lock-private.h"

static _Atomic uint32_t *lock_futex(struct lock *l)
{
	_Atomic uint32_t *half = (_Atomic uint32_t *)(void *)&l->owner;

	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? half + 1 : half;
}

#define HANDED_USEC 1000

void lock_wait(struct lock *l, uint64_t self)
{
	bool slept = false;

	for (;;) {
		uint64_t owner = shared_load(&l->owner, relaxed); /* a guess */
		bool handed = owner & LOCK_HANDED;

		/* Acquire: as in lock_take(). */
		if (owner == 0 || (handed && slept)) {
			if (shared_replace(&l->owner, &owner, self | LOCK_WAITED, acquire, relaxed))
				return;
			continue;
		}
		if (!(owner & LOCK_WAITED) &&
		    !shared_replace(&l->owner, &owner, owner | LOCK_WAITED, relaxed, relaxed))
			continue;
		(void)futex_sleep(lock_futex(l), (uint32_t)(owner | LOCK_WAITED),
				  handed ? clock_add(clock_now_usec(), HANDED_USEC)
					 : USEC_INFINITY);
		slept = true;
	}
}

void lock_pass(struct lock *l)
{
	/* Release: everything done under the lock. */
	uint64_t was = shared_swap(&l->owner, LOCK_HANDED | LOCK_WAITED, release);
	uint64_t handed = LOCK_HANDED | LOCK_WAITED;

	/* Acquire: as in lock_take().  It fails if another thread was quicker. */
	if (futex_wake(lock_futex(l), 1) ||
	    !shared_replace(&l->owner, &handed, lock_self() | LOCK_WAITED, acquire, relaxed))
		lock_wait(l, lock_self());
	if (was & LOCK_MARKED)
		(void)shared_or(&l->owner, LOCK_MARKED, relaxed); /* this thread holds it */
}

void lock_wake(struct lock *l)
{
	futex_wake(lock_futex(l), 1);
}
