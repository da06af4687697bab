#pragma once

/*
 * An event that happens once: to ask for, to block for, or to poll for.  Embedded in its owner, who
 * keeps it valid during every call.  What happened before latch_set() is visible to whoever sees
 * the latch set.
 */

#include <stdbool.h>
#include <stdint.h>

#include "swansong/base/atomic-private.h"

struct latch {
	_Atomic uint32_t state;
	_Atomic int fd; /* -1 until somebody asks for it */
};

#define LATCH_SET      UINT32_C(1)
#define LATCH_SLEEPERS UINT32_C(2) /* somebody may sleep on the state */
#define LATCH_FD       UINT32_C(4) /* fd is there: whoever sets the latch makes it readable */

#define LATCH_INITIALIZER(set)                           \
	{                                                \
		.state = (set) ? LATCH_SET : 0, .fd = -1 \
	}

/* Closes the descriptor. */
void latch_done(struct latch *l);

/* Acquire: what happened before it was set is what the caller asks for. */
static inline bool latch_is_set(const struct latch *l)
{
	return shared_load(&l->state, acquire) & LATCH_SET;
}

/* Sets the latch and wakes everybody.  False if it was set before. */
bool latch_set(struct latch *l);

/* Blocks until the latch is set.  @deadline is absolute CLOCK_MONOTONIC.  0 or -ETIMEDOUT. */
int latch_wait(struct latch *l, uint64_t deadline_usec);

/* The latch's descriptor, readable once it is set, or -errno.  It is the latch's. */
int latch_fd(struct latch *l);
