/*
 * Each processor has a slot.  A single slot means nothing, as a thread may add on one processor and
 * subtract on another; the sum of all slots is the count.
 *
 * With restartable sequences, a slot is written only by threads of its processor, without a locked
 * instruction, as long as they find the sum open.  A thread that closes the sum sets "closed", and
 * then makes all sequences begin again.  Each sequence that found the sum open has added by then,
 * or finds the sum closed when it begins again, and so the slots are constant.  One sequence both
 * looks at "closed" and adds.
 *
 * Without them, one read-modify-write does both: the slot itself has a flag, and the value that the
 * addition returns has the flag if the addition did not count.  The same read-modify-write that
 * sets the flag reads the slot.  Additions to a closed slot are never read.
 *
 * With restartable sequences, two threads do 1.9 times as many guards as one (tests/bench/guards).
 * A pair of one thread costs 5 to 7 ns: half of a pair at home where a locked instruction takes 5
 * ns, and 1.7 times as much where that takes 2 ns.  Without them, a pair costs a third more than at
 * home; that is for many processors.  A slot for each thread, and a fence before another thread
 * reads them, would be as quick as restartable sequences; but each thread would need a number, and
 * would have to give it back.
 */
#include "swansong/count/percpu-private.h"

#include <stdalign.h>

void slots_init(struct percpu_slot *slots, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		shared_init(&slots[i].count, SLOT_BIAS);
}

struct percpu *percpu_new(void)
{
	uint32_t n = processor_count();
	struct percpu *p =
		aligned_alloc(alignof(struct percpu), sizeof(*p) + n * sizeof(struct percpu_slot));

	if (!p)
		return NULL;
	p->n = n;
	p->rseq = rseq_is_there();
	shared_init(&p->closed, 0);
	slots_init(p->slot, n);
	return p;
}

struct percpu *percpu_free(struct percpu *p)
{
	return free_memory(p);
}

bool slots_add_locked(struct percpu_slot *slots, uint32_t n, uint64_t delta)
{
	uint32_t i = processor_number();

	/* Release: everything before, to the closing thread.  Acquire: if it is closed. */
	return i < n && !(shared_add(&slots[i].count, delta, acq_rel) & SLOT_CLOSED);
}

/*
 * In place of rseq_fence(): when this thread runs on a processor, it has ended the sequence that
 * was under way there.  On a processor where this thread may not run, no thread of the process
 * runs.
 */
static void percpu_visit_processors(uint32_t n)
{
	cpu_set_t before, one;

	if (sched_getaffinity(0, sizeof(before), &before) < 0)
		return;
	for (uint32_t i = 0; i < n && i < CPU_SETSIZE; i++) {
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		(void)sched_setaffinity(0, sizeof(one), &one);
	}
	(void)sched_setaffinity(0, sizeof(before), &before);
}

static uint64_t percpu_slot_value(uint64_t count)
{
	return (count & ~SLOT_CLOSED) - SLOT_BIAS;
}

uint64_t slots_close(struct percpu_slot *slots, uint32_t n, bool rseq, _Atomic uint32_t *closed)
{
	uint64_t sum = 0;

	if (rseq) {
		shared_store(closed, 1, release); /* to sequences that see it */
		if (!rseq_fence(closed))
			percpu_visit_processors(n);
		sanitizer_acquire(closed); /* sequences are reported there */
	}
	/* Acquire and release: as in slots_add_locked(), for the threads that added. */
	for (uint32_t i = 0; i < n; i++)
		sum += percpu_slot_value(shared_or(&slots[i].count, SLOT_CLOSED, acq_rel));
	return sum;
}

uint64_t percpu_close(struct percpu *p)
{
	return slots_close(p->slot, p->n, p->rseq, &p->closed);
}

uint64_t percpu_sum(const struct percpu *p)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < p->n; i++)
		sum += percpu_slot_value(
			shared_load(&p->slot[i].count, relaxed)); /* displayed only */
	return sum;
}
