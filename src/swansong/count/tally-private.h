#pragma once

/* The guards of a whole tree, counted where another process can read it.  See tally.c. */

#include <stdbool.h>
#include <stdint.h>

#include "base/page.h"
#include "swansong/count/percpu-private.h"

/*
 * In memory that is all zero in a process that was forked (MADV_WIPEONFORK): there it is a tally
 * that counts nothing.
 */
struct tally {
	struct page *page;	   /* these constant */
	struct percpu_slot *lanes; /* @n, those of the page */
	uint32_t n;
	bool rseq;
	bool gathered;		 /* under the tree's lock */
	_Atomic uint32_t closed; /* with rseq */
};

/* The page is the caller's, with room for @n lanes, and is begun anew. */
void tally_init(struct tally *t, struct page *page, uint32_t n);

static inline bool tally_is_live(const struct tally *t)
{
	return t->page;
}

/* tally_add() where the lanes do not count, or not any more. */
void tally_add_elsewhere(struct tally *t, uint64_t delta);

static inline void tally_add(struct tally *t, uint64_t delta)
{
	if (!(t->rseq ? rseq_add(&t->closed, t->lanes, t->n, delta)
		      : slots_add_locked(t->lanes, t->n, delta)))
		tally_add_elsewhere(t, delta);
}

/* From now on the page is exact.  Under the tree's lock; again it does nothing. */
void tally_gather(struct tally *t);
