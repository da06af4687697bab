/*
 * Faults that shutdown libraries of this kind have, a test for each: its name is the right
 * behaviour.  Where the fault is one of an interleaving, of a cost or of memory, there is more in
 *
 *	tests/stress/stress-premature.c		a completion that comes too early, in all interleavings
 *	tests/stress/stress-interleave.c	the same of everything else
 *	tests/unit/swansong/test-steps.c	a child among many, the look at an interrupt
 *	tests/unit/swansong/test-scale.c	the cost of a child, a stop and a node
 */
#include "tests/unit/fixtures/swansong/pair.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macro.h"
#include "tests/unit/fixtures/swansong/caller.h"
#include "swansong/count/node-private.h"

static struct swansong_completion *completion_of(struct swansong *s)
{
	struct swansong_completion *c;

	ck_assert_int_eq(swansong_completion_new(s, &c), 0);
	return c;
}

static struct swansong_interrupt *interrupt_of(struct swansong *s)
{
	struct swansong_interrupt *i;

	ck_assert_int_eq(swansong_interrupt_new(s, &i), 0);
	return i;
}

static struct swansong *child_of(struct swansong *parent)
{
	struct swansong *s;

	ck_assert_int_eq(swansong_child(parent, &s), 0);
	return s;
}

/* ---- 1: premature completion ---- */

enum { SAME_NODE, SIBLINGS, DROP_AND_TAKE, N_SIDES, ROUNDS = 500 };

static struct {
	pthread_barrier_t barrier;
	struct swansong *node[2]; /* below the child */
	struct swansong_guard guard[2];
} taking;

static void *take_and_drop(void *arg)
{
	size_t me = *(size_t *)arg;

	for (int round = 0; round < ROUNDS; round++) {
		pthread_barrier_wait(&taking.barrier);
		if (taking.guard[me].node)
			swansong_guard_drop(&taking.guard[me]);
		else
			taking.guard[me] = swansong_guard(taking.node[me]);
		pthread_barrier_wait(&taking.barrier);
		/* Another thread looks at the node here. */
		pthread_barrier_wait(&taking.barrier);
		swansong_guard_drop(&taking.guard[me]);
		pthread_barrier_wait(&taking.barrier);
	}
	return NULL;
}

static void look_while_held(int side)
{
	make_pair();
	taking.node[0] = child_of(child);
	taking.node[1] = side == SIBLINGS ? child_of(child) : swansong_ref(taking.node[0]);
	if (side == DROP_AND_TAKE)
		taking.guard[0] = swansong_guard(taking.node[0]);

	pthread_barrier_wait(&taking.barrier); /* both threads at once */
	pthread_barrier_wait(&taking.barrier);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	ck_assert_int_eq(swansong_wait(root, 0), -ETIMEDOUT);
	ck_assert_uint_eq(swansong_guard_count(root), side == DROP_AND_TAKE ? 1 : 2);
	pthread_barrier_wait(&taking.barrier);
	ck_assert_int_eq(swansong_wait(root, USEC_INFINITY), 0);
	pthread_barrier_wait(&taking.barrier);

	swansong_unref(taking.node[0]);
	swansong_unref(taking.node[1]);
	drop_pair();
}

START_TEST(a_completion_waits_for_guards_that_were_taken_at_the_same_time)
{
	size_t number[2] = { 0, 1 };
	pthread_t thread[2];

	drop_pair();
	ck_assert_int_eq(pthread_barrier_init(&taking.barrier, NULL, 3), 0);
	for (int t = 0; t < 2; t++)
		pthread_create(&thread[t], NULL, take_and_drop, &number[t]);
	for (int round = 0; round < ROUNDS; round++)
		look_while_held(_i);
	for (int t = 0; t < 2; t++)
		pthread_join(thread[t], NULL);
	pthread_barrier_destroy(&taking.barrier);
	make_pair();
}
END_TEST

/* ---- 2: lost wake-up ---- */

static long wait_for_interrupt(void *arg)
{
	return swansong_interrupt_wait(arg, USEC_INFINITY);
}

/* Checks that a thread that sleeps in @wait is woken when *@last, a last handle, goes. */
static void check_woken_without(struct swansong **last, long (*wait)(void *arg), void *arg)
{
	struct caller c;

	caller_start(&c, wait, arg);
	caller_wait_asleep(&c);
	*last = swansong_unref(*last);
	ck_assert_int_eq(caller_join(&c), 0);
}

START_TEST(a_wait_on_a_child_ends_when_its_last_handle_goes)
{
	struct swansong_interrupt *i = interrupt_of(child);

	check_woken_without(&child, wait_for_interrupt, i);
	swansong_interrupt_unref(i);
}
END_TEST

/* ---- 3: undercount ---- */

START_TEST(a_guard_on_a_completed_child_is_counted_by_its_parent)
{
	struct swansong_guard late;
	struct swansong *more;

	swansong_shut_down(child);
	ck_assert_int_eq(swansong_state(child), SWANSONG_COMPLETE);
	more = child_of(root); /* where other libraries forget completed nodes */
	late = swansong_guard(child);
	ck_assert_uint_eq(swansong_guard_count(root), 1);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	swansong_guard_drop(&late);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
	swansong_unref(more);
}
END_TEST

/* ---- 4: completions that do not latch ---- */

START_TEST(a_resolved_completion_stays_so_when_a_late_guard_is_taken)
{
	struct swansong_completion *c = completion_of(root);
	struct swansong_guard late;

	swansong_shut_down(root);
	ck_assert(swansong_completion_done(c));
	late = swansong_guard(child);
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	ck_assert(swansong_completion_done(c));
	ck_assert_int_eq(swansong_completion_wait(c, 0), 0);
	ck_assert(is_readable(swansong_completion_fd(c)));
	swansong_guard_drop(&late);
	swansong_completion_unref(c);
}
END_TEST

/* ---- 5: a wait that outlives the last handle ---- */

static long wait_for_completion(void *arg)
{
	return swansong_completion_wait(arg, USEC_INFINITY);
}

START_TEST(a_wait_for_a_root_ends_when_its_last_handle_goes)
{
	struct swansong_completion *c = completion_of(root);

	check_woken_without(&root, wait_for_completion, c);
	swansong_completion_unref(c);
}
END_TEST

/* ---- 6: a lock, and memory, for each guard ---- */

/* All locks that there are; a guard that took a lock would wait here for ever. */
START_TEST(no_guard_takes_a_lock_or_leaves_memory)
{
	size_t before, after;

	/* With a sanitizer that replaces malloc() both are 0. */
	lock_take(&root->tree->lock);
	before = mallinfo2().uordblks;
	for (int k = 0; k < 1000; k++) {
		struct swansong_guard g = swansong_guard(child);

		swansong_guard_drop(&g);
	}
	after = mallinfo2().uordblks;
	lock_leave(&root->tree->lock);
	ck_assert_uint_eq(after, before);
}
END_TEST

/* Switched on, the report has memory for as many guards as were held at once, asked for or not. */
START_TEST(dropped_guards_leave_room_for_the_next_in_the_report)
{
	struct swansong_guard g;
	uint32_t record;

	ck_assert_int_eq(swansong_report_enable(root), 0);
	for (int k = 0; k < 10000; k++) {
		g = swansong_guard(child);
		record = g.record;
		ck_assert_uint_gt(record, 0);
		ck_assert_uint_lt(record, 32); /* the first of a shard: only one guard is held */
		swansong_guard_drop(&g);
	}
}
END_TEST

/* ---- 8: a dropped child that stays ---- */

START_TEST(a_dropped_child_is_gone_before_the_next_one_comes)
{
	struct swansong_interrupt *i = interrupt_of(child);

	child = swansong_unref(child);
	ck_assert(swansong_interrupted(i)); /* only its memory is left */
	ck_assert_ptr_eq(root->children.next, &root->children);
	swansong_interrupt_unref(i);
}
END_TEST

/* ---- 9: an interrupt that does not listen ---- */

static int ends[2];

static long read_one(void *arg)
{
	char byte;

	return swansong_interrupt_read(arg, ends[0], &byte, 1);
}

START_TEST(a_pending_read_is_woken_by_the_stop)
{
	struct swansong_interrupt *i = interrupt_of(child);
	struct caller c;

	ck_assert_int_eq(pipe(ends), 0);
	caller_start(&c, read_one, i);
	caller_wait_asleep(&c);
	swansong_shut_down(root);
	ck_assert_int_eq(caller_join(&c), 0);
	close(ends[0]);
	close(ends[1]);
	swansong_interrupt_unref(i);
}
END_TEST

/* ---- 10: a completion that orders nothing ---- */

static struct {
	pthread_t thread;
	struct swansong_guard guard;
	unsigned long work; /* plain: only ordered by the guard */
} worker;

static void *work(void *arg)
{
	for (unsigned int k = 0; k < 1000; k++)
		worker.work++;
	swansong_guard_drop(&worker.guard);
	return arg;
}

/* ThreadSanitizer finds the fault, if nothing else does. */
START_TEST(a_thread_that_finds_it_complete_sees_the_work_under_guards)
{
	for (int round = 0; round < 200; round++) {
		struct swansong_completion *c = completion_of(root);

		worker.work = 0;
		worker.guard = swansong_guard(child);
		pthread_create(&worker.thread, NULL, work, NULL);
		swansong_shut_down(root);
		while (!swansong_completion_done(c))
			sched_yield();
		ck_assert_uint_eq(worker.work, 1000);
		pthread_join(worker.thread, NULL);
		swansong_completion_unref(c);
		drop_pair();
		make_pair();
	}
}
END_TEST

/* ---- 11: recursion, and 32 bits ---- */

static void *stop_and_drop_deep(void *arg)
{
	struct swansong *s = swansong_ref(arg);

	for (int k = 0; k < 20000; k++) {
		struct swansong *below = child_of(s);

		swansong_unref(s);
		s = below;
	}
	swansong_shut_down(arg);
	ck_assert_int_eq(swansong_state(s), SWANSONG_COMPLETE);
	return swansong_unref(s);
}

START_TEST(depth_needs_no_stack)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	ck_assert_int_eq(pthread_attr_setstacksize(&attr, 256 * 1024), 0);
	ck_assert_int_eq(pthread_create(&thread, &attr, stop_and_drop_deep, root), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}
END_TEST

/* ---- 12: neighbours in a cache line ---- */

#define DISTANCE(a, b)                                                     \
	((uintptr_t)(a) < (uintptr_t)(b) ? (uintptr_t)(b) - (uintptr_t)(a) \
					 : (uintptr_t)(a) - (uintptr_t)(b))

START_TEST(no_two_nodes_share_a_cache_line)
{
	struct swansong *node[100];

	for (size_t k = 0; k < ARRAY_SIZE(node); k++) {
		ck_assert_int_eq(swansong_new(&node[k]), 0);
		ck_assert_uint_eq((uintptr_t)node[k] % CACHE_LINE, 0);
		for (size_t i = 0; i < k; i++)
			ck_assert_uint_ge(DISTANCE(node[i], node[k]), 3 * CACHE_LINE);
	}
	for (size_t k = 0; k < ARRAY_SIZE(node); k++)
		swansong_unref(node[k]);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-faults");
	TCase *tc = tcase_create("faults");

	tcase_add_checked_fixture(tc, make_pair, drop_pair);
	tcase_add_loop_test(tc, a_completion_waits_for_guards_that_were_taken_at_the_same_time, 0,
			    N_SIDES);
	tcase_add_test(tc, a_wait_on_a_child_ends_when_its_last_handle_goes);
	tcase_add_test(tc, a_guard_on_a_completed_child_is_counted_by_its_parent);
	tcase_add_test(tc, a_resolved_completion_stays_so_when_a_late_guard_is_taken);
	tcase_add_test(tc, a_wait_for_a_root_ends_when_its_last_handle_goes);
	tcase_add_test(tc, no_guard_takes_a_lock_or_leaves_memory);
	tcase_add_test(tc, dropped_guards_leave_room_for_the_next_in_the_report);
	tcase_add_test(tc, a_dropped_child_is_gone_before_the_next_one_comes);
	tcase_add_test(tc, a_pending_read_is_woken_by_the_stop);
	tcase_add_test(tc, a_thread_that_finds_it_complete_sees_the_work_under_guards);
	tcase_add_test(tc, depth_needs_no_stack);
	tcase_add_test(tc, no_two_nodes_share_a_cache_line);
	suite_add_tcase(suite, tc);
	return suite;
}
