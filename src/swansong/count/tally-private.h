#pragma once

/* The guards of a whole tree, counted where another process can read them.  See tally.c. */

#include "base/page.h"
#include "swansong/count/percpu-private.h"

/*
 * A tally is in memory that is all zero in a forked process (MADV_WIPEONFORK).  There it counts
 * nothing.
 */
struct tally {
	struct page *page;	   /* constant, as are lanes, n and rseq */
	struct percpu_slot *lanes; /* the n lanes of the page */
	uint32_t n;
	bool rseq;
	bool gathered;		 /* under the tree's lock */
	_Atomic uint32_t closed; /* used with rseq only */
};

/* Begins @page anew.  It is the caller's, with room for @n lanes. */
void tally_init(struct tally *t, struct page *page, uint32_t n);

static inline bool tally_is_live(const struct tally *t)
{
	return t->page;
}

/* tally_add() if the lanes do not count this addition, or no longer count. */
void tally_add_elsewhere(struct tally *t, uint64_t delta);

static inline void tally_add(struct tally *t, uint64_t delta)
{
	if (!(t->rseq ? rseq_add(&t->closed, t->lanes, t->n, delta)
		      : slots_add_locked(t->lanes, t->n, delta)))
		tally_add_elsewhere(t, delta);
}

/* Makes the page exact from now on.  Under the tree's lock; a second call does nothing. */
void tally_gather(struct tally *t);
