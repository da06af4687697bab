#pragma once

/*
 * A sum that each processor adds to in a cache line of its own, until it is closed.  See percpu.c.
 */

#include "swansong/count/rseq-private.h"

#define SLOT_CLOSED (UINT64_C(1) << 63)
#define SLOT_BIAS   (UINT64_C(1) << 62) /* so that no subtraction reaches the flag */

/* Initializes the slots: nothing is counted. */
void slots_init(struct percpu_slot *slots, uint32_t n);

/* rseq_add() without restartable sequences. */
bool slots_add_locked(struct percpu_slot *slots, uint32_t n, uint64_t delta);

/* percpu_close() for the slots.  With @rseq, *@closed is set, and additions stop by that. */
uint64_t slots_close(struct percpu_slot *slots, uint32_t n, bool rseq, _Atomic uint32_t *closed);

struct percpu {
	uint32_t n;		 /* constant; number of slots */
	bool rseq;		 /* constant */
	_Atomic uint32_t closed; /* used with rseq only */
	struct percpu_slot slot[];
};

/*
 * Creates an open sum of 0.  Returns NULL if there is no memory.  The first one of a program with
 * many threads may take some milliseconds: the kernel registers the program on all processors.
 */
struct percpu *percpu_new(void);
struct percpu *percpu_free(struct percpu *p);

/*
 * Adds @delta, with acquire and release.  Returns false, with nothing added, if the sum is closed,
 * or if it has no slot for this processor.
 */
static inline bool percpu_add(struct percpu *p, uint64_t delta)
{
	return p->rseq ? rseq_add(&p->closed, p->slot, p->n, delta)
		       : slots_add_locked(p->slot, p->n, delta);
}

/*
 * Closes the sum, which is open, and returns it.  Acquire: everything done before each addition in
 * the sum.  All other additions are refused, also those that are under way.
 */
uint64_t percpu_close(struct percpu *p);

/* Returns the sum: exact while no thread adds to it, else a number near it. */
uint64_t percpu_sum(const struct percpu *p);
