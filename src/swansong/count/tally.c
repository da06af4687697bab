/*
 * What the page of an attached program says (base/page.h).
 *
 * It is a second account: the nodes count their guards as if there was no page, and nothing here is
 * ever read back for that.  So whoever scribbles on the page makes it wrong, and nothing else; and
 * a process that was forked has the nodes and goes on with them, and only the page is not its own.
 *
 * While the tree runs, guards are added to the lanes by the way of percpu.c.  Its stop closes the
 * lanes: whatever was added there is in their sum, and who comes later is refused and adds to
 * elsewhere.  The sum is added to elsewhere, and then gathered says that this is all.  Hence:
 *
 *	Once gathered is seen, every value of elsewhere counts each guard that had been added and
 *	not subtracted when elsewhere got that value.
 *
 * For all that changes elsewhere are read-modify-writes, which have one order; a guard is added
 * before it is subtracted, in the lanes or here; and the sum is before all values that are seen
 * with gathered.  So the page is exact for what is held: from before guard() returns until the drop
 * begins.  Either is done before the node is told of the same, so that a drop ends here while its
 * guard still keeps the tree, which has the memory.
 *
 * Moving the lanes one by one would not do.  A lane can be below zero, as guards may be dropped on
 * another processor than they are taken on, and is then less than nothing while it is counted
 * twice.
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
	/* Relaxed: what the page says meanwhile is near nothing at all. */
	plain_store(&page->gathered, 0, relaxed);
	plain_store(&page->elsewhere, 0, relaxed);
	slots_init(t->lanes, n);
}

void tally_add_elsewhere(struct tally *t, uint64_t delta)
{
	/* Relaxed: it is a number, and nothing else is known by it. */
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
