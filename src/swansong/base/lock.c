/*
 * The word of a lock is the thread that holds it, and whether others may sleep.  A thread that is
 * woken takes the lock with that mark, since there may be more of them; so to leave a lock wakes one
 * and forgets none.
 *
 * The kernel sleeps on 32 bits: the lower half of the word, which has the mark.  Two threads may have
 * the same lower half; then a thread sleeps on another owner than it has seen, which wakes it, too.
 *
 * A lock needs no end: its memory may be freed by a thread that has held it last.  The wake-up of
 * another that is late is for an address, whatever is there by then.
 */
#include "swansong/base/lock-private.h"

#ifndef SWANSONG_STEP

static _Atomic uint32_t *lock_futex(struct lock *l)
{
	_Atomic uint32_t *half = (_Atomic uint32_t *)(void *)&l->owner;

	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? half + 1 : half;
}

void lock_wait(struct lock *l, uint64_t self)
{
	for (;;) {
		uint64_t owner = shared_load(&l->owner, relaxed); /* a guess, to be exchanged */

		/* Acquire: as in lock_take(). */
		if (owner == 0) {
			if (shared_replace(&l->owner, &owner, self | LOCK_WAITED, acquire, relaxed))
				return;
			continue;
		}
		if (!(owner & LOCK_WAITED) &&
		    !shared_replace(&l->owner, &owner, owner | LOCK_WAITED, relaxed, relaxed))
			continue;
		(void)futex_sleep(lock_futex(l), (uint32_t)(owner | LOCK_WAITED), USEC_INFINITY);
	}
}

void lock_wake(struct lock *l)
{
	futex_wake(lock_futex(l), 1);
}

#endif
