#pragma once

/*
 * An event that happens once.  A thread may ask for it, block for it, or poll for it.
 *
 * A latch is embedded in its owner, and the owner keeps it valid during every call.  Everything
 * before latch_set() is visible to each thread that sees the latch set.
 */

#include "swansong/base/atomic-private.h"

struct latch {
	_Atomic uint32_t state;
	_Atomic int fd; /* -1 until latch_fd() */
};

#define LATCH_SET      UINT32_C(1)
#define LATCH_SLEEPERS UINT32_C(2) /* threads may sleep on the state */
#define LATCH_FD       UINT32_C(4) /* fd exists, and latch_set() makes it readable */

#define LATCH_INITIALIZER(set)                           \
	{                                                \
		.state = (set) ? LATCH_SET : 0, .fd = -1 \
	}

void latch_done(struct latch *l);

/* Acquire: a caller that sees the latch set sees everything before latch_set(). */
static inline bool latch_is_set(const struct latch *l)
{
	return shared_load(&l->state, acquire) & LATCH_SET;
}

/* Sets the latch and wakes all threads that sleep.  Returns false if it was set before. */
bool latch_set(struct latch *l);

/*
 * Blocks until the latch is set.  @deadline_usec is absolute CLOCK_MONOTONIC.  Returns 0 or
 * -ETIMEDOUT.
 */
int latch_wait(struct latch *l, uint64_t deadline_usec);

/*
 * Returns a descriptor that is readable once the latch is set, or -errno.  The latch owns the
 * descriptor.
 */
int latch_fd(struct latch *l);
