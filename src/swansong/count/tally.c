/*
 * The page of an attached program (base/page.h).
 *
 * It is a second account: the nodes count their guards as if there was no page, and never read
 * anything back from it.  So a program that overwrites the page makes the page wrong, and nothing
 * else; and a forked process has the nodes and goes on with them, and only the page is not its own.
 *
 * While the tree runs, guards are added to the lanes, in the manner of percpu.c.  The stop of the
 * tree closes the lanes: all that was added there is in their sum, and a later addition is refused
 * and goes to "elsewhere".  The sum is added to "elsewhere", and then "gathered" is set: that is
 * all.  Hence:
 *
 *	Once "gathered" is seen, every value of "elsewhere" counts each guard that had been added and
 *	not subtracted when "elsewhere" got that value.
 *
 * For all changes of "elsewhere" are read-modify-writes, which have one order; a guard is added
 * before it is subtracted, in the lanes or here; and the sum is before all values that are seen
 * with "gathered".  So the page is exact for held guards: from before guard() returns until the
 * drop begins.  The page is changed before the node, in taking and in dropping.  So a drop is done
 * here while its guard still keeps the tree, which has the memory.
 *
 * Moving the lanes one by one would be wrong.  A lane can be below zero, as guards may be dropped
 * on another processor than they are taken on: while such a lane is counted twice, the number is too
 * low.
 */
#include "swansong/count/tally-private.h"

_Static_assert(sizeof(struct percpu_slot) == PAGE_LANE, "a slot is a lane");
_Static_assert(SLOT_CLOSED == PAGE_VOID && SLOT_BIAS == PAGE_BIAS, "with the same number in it");

void tally_init(struct tally *t, struct page *page, uint32_t n)
{
	t->page = page;
	t->lanes = (struct percpu_slot *)page_lanes(page);
	t->n = n;
	t->rseq = rseq_is_there();
	t->gathered = false;
	shared_init(&t->closed, 0);
	/* Relaxed: until then the numbers of the page are not exact. */
	plain_store(&page->gathered, 0, relaxed);
	plain_store(&page->elsewhere, 0, relaxed);
	slots_init(t->lanes, n);
}

void tally_add_elsewhere(struct tally *t, uint64_t delta)
{
	/* Relaxed: it is a number, and orders nothing else. */
	if (tally_is_live(t))
		(void)plain_add(&t->page->elsewhere, (int64_t)delta, relaxed);
}

void tally_gather(struct tally *t)
{
	uint64_t sum;

	if (t->gathered)
		return;
	t->gathered = true;
	sum = slots_close(t->lanes, t->n, t->rseq, &t->closed);
	tally_add_elsewhere(t, sum);
	/* Release: the sum. */
	if (tally_is_live(t))
		plain_store(&t->page->gathered, 1, release);
}
