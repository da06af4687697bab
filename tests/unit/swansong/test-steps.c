/*
 * Counts the atomic operations, locks and sleeps of the library, which is built so that each of
 * them calls the test (swansong/base/atomic-private.h).  There is one thread here.
 */
#include "tests/unit/fixtures/swansong/pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "swansong/count/node-private.h"

#define MAX_STEPS 4000

/* Since steps_begin(). */
static struct steps {
	const volatile void *address[MAX_STEPS];
	bool wrote[MAX_STEPS]; /* another value, as far as its first 32 bits show */
	uint32_t before;
	unsigned int n;	    /* atomic operations */
	unsigned int locks; /* taken; each is left by one more atomic operation */
	unsigned int sleeps, wakes;
} steps;

static void steps_begin(void)
{
	steps = (struct steps){ .n = 0 };
}

void swansong_step(const volatile void *address)
{
	ck_assert_uint_lt(steps.n, MAX_STEPS);
	steps.address[steps.n] = address;
	memcpy(&steps.before, (const void *)address, sizeof(steps.before));
}

void swansong_stepped(void)
{
	steps.wrote[steps.n] = memcmp(&steps.before, (const void *)steps.address[steps.n],
				      sizeof(steps.before)) != 0;
	steps.n++;
}

bool swansong_step_rseq(void);

bool swansong_step_rseq(void)
{
	return false;
}

void swansong_step_lock(const _Atomic int *taken)
{
	ck_assert_int_eq(*taken, 0);
	steps.locks++;
}

int swansong_step_sleep(const _Atomic uint32_t *word, uint32_t value)
{
	(void)word;
	(void)value;
	steps.sleeps++;
	return -ETIMEDOUT;
}

void swansong_step_wake(const _Atomic uint32_t *word)
{
	(void)word;
	steps.wakes++;
}

pthread_t swansong_step_self(void)
{
	return pthread_self();
}

/* Memory is nothing to be stepped here. */
void *explore_aligned_alloc(size_t alignment, size_t size);
void *explore_calloc(size_t n, size_t size);
void *explore_malloc(size_t size);
void *explore_reallocarray(void *p, size_t n, size_t size);
void explore_free(void *p);

void *explore_aligned_alloc(size_t alignment, size_t size)
{
	return aligned_alloc(alignment, size);
}

void *explore_calloc(size_t n, size_t size)
{
	return calloc(n, size);
}

void *explore_malloc(size_t size)
{
	return malloc(size);
}

void *explore_reallocarray(void *p, size_t n, size_t size)
{
	return reallocarray(p, n, size);
}

void explore_free(void *p)
{
	free(p);
}

/* How many steps were at something that lies within the @size bytes at @start. */
static unsigned int steps_within(const volatile void *start, size_t size, bool only_writes)
{
	const volatile char *from = start;
	unsigned int n = 0;

	for (unsigned int k = 0; k < steps.n; k++) {
		const volatile char *at = steps.address[k];

		n += at >= from && at < from + size && (steps.wrote[k] || !only_writes);
	}
	return n;
}

static unsigned int writes(void)
{
	unsigned int n = 0;

	for (unsigned int k = 0; k < steps.n; k++)
		n += steps.wrote[k];
	return n;
}

static void ck_steps(unsigned int n, unsigned int locks)
{
	ck_assert_uint_eq(steps.n, n);
	ck_assert_uint_eq(steps.locks, locks);
	ck_assert_uint_eq(steps.sleeps + steps.wakes, 0);
}

/* A guard is one addition, after a load of the entry. */
static void ck_guard_is_cheap(void)
{
	ck_assert_uint_eq(writes(), 1);
	ck_assert_uint_le(steps.n, 2);
	ck_steps(steps.n, 0);
}

/* ---- the interrupt ---- */

/* Bit 0: stopped; bit 1: with many interrupts and a guard; bit 2: the node is gone. */
START_TEST(the_look_at_an_interrupt_is_one_load_of_one_word)
{
	struct swansong_guard g = { 0 };
	struct swansong_interrupt *i, *others[10];
	bool seen;

	ck_assert_int_eq(swansong_interrupt_new(child, &i), 0);
	for (unsigned int k = 0; k < ARRAY_SIZE(others); k++)
		ck_assert_int_eq(swansong_interrupt_new(child, &others[k]), 0);
	if (_i & 1)
		swansong_shut_down(root);
	if (_i & 2)
		g = swansong_guard(child);
	if (_i & 4)
		child = swansong_unref(child);

	steps_begin();
	seen = swansong_interrupted(i);
	ck_steps(1, 0);
	ck_assert(seen == (_i & 1 || (_i & 6) == 4));

	swansong_guard_drop(&g);
	for (unsigned int k = 0; k < ARRAY_SIZE(others); k++)
		swansong_interrupt_unref(others[k]);
	swansong_interrupt_unref(i);
}
END_TEST

/* Interrupts read no line that guards write, so that guards do not slow them. */
START_TEST(guards_and_interrupts_share_no_cache_line)
{
	struct swansong_interrupt *i;
	struct swansong_guard g;

	ck_assert_int_eq(swansong_interrupt_new(child, &i), 0);
	steps_begin();
	(void)swansong_interrupted(i);
	ck_assert_uint_eq(steps_within(child, CACHE_LINE, false), 1);

	steps_begin();
	g = swansong_guard(child);
	swansong_guard_drop(&g);
	ck_assert_uint_eq(steps_within(child, CACHE_LINE, true), 0);
	ck_assert_uint_eq(steps_within(root, sizeof(*root), false), 0);
	swansong_interrupt_unref(i);
}
END_TEST

/* ---- the guard ---- */

/* Returns the node that is @depth below the root; no other node has a name. */
static struct swansong *descend(int depth)
{
	struct swansong *s = swansong_ref(root);

	for (int k = 0; k < depth; k++) {
		struct swansong *below;

		ck_assert_int_eq(swansong_child(s, &below), 0);
		swansong_unref(s);
		s = below;
	}
	return s;
}

START_TEST(a_guard_of_a_running_node_is_one_addition_and_one_subtraction_at_any_depth)
{
	struct swansong *s = descend(_i);
	struct swansong_guard held = { 0 }, g, h;

	for (int round = 0; round < 2; round++) {
		steps_begin();
		g = swansong_guard(s);
		ck_guard_is_cheap();
		steps_begin();
		h = swansong_guard_clone(&g);
		ck_guard_is_cheap();
		steps_begin();
		swansong_guard_drop(&h);
		ck_guard_is_cheap();
		steps_begin();
		swansong_guard_drop(&g);
		ck_guard_is_cheap();
		/* The second round is one of guards that are not the first, nor the last. */
		swansong_guard_drop(&held);
		held = round == 0 ? swansong_guard(s) : held;
	}
	swansong_guard_drop(&held);
	swansong_unref(s);
}
END_TEST

/* At any depth; only the first and the last go up, to the node that was stopped. */
START_TEST(a_guard_of_a_stopped_tree_goes_up_only_when_it_is_the_first_or_the_last)
{
	struct swansong *s = descend(8), *from = s;
	struct swansong_guard held, g;
	unsigned int stopped = (unsigned int)_i + 1;

	for (int k = 0; k < _i; k++)
		from = from->parent;
	swansong_shut_down(from);

	steps_begin();
	held = swansong_guard(s);
	ck_assert_uint_le(writes(), 2 * stopped);
	for (int k = 0; k < 2; k++) {
		steps_begin();
		g = swansong_guard(s);
		ck_assert_uint_eq(writes(), 1);
		ck_steps(steps.n, 0);
		steps_begin();
		swansong_guard_drop(&g);
		ck_assert_uint_eq(writes(), 1);
		ck_steps(steps.n, 0);
	}
	steps_begin();
	swansong_guard_drop(&held);
	ck_assert_uint_le(writes(), 1 + stopped);
	if (from->parent)
		ck_assert_uint_eq(steps_within(from->parent, sizeof(*from), false), 0);
	swansong_unref(s);
}
END_TEST

/* ---- the child ---- */

START_TEST(a_child_is_made_and_dropped_without_a_look_at_its_siblings)
{
	enum { MANY = 500 };
	struct swansong *sibling[MANY], *alone, *among;
	struct steps few;

	steps_begin();
	ck_assert_int_eq(swansong_child(root, &alone), 0);
	swansong_unref(alone);
	few = steps;
	for (unsigned int k = 0; k < MANY; k++) {
		steps_begin();
		ck_assert_int_eq(swansong_child(root, &sibling[k]), 0);
	}

	steps_begin();
	ck_assert_int_eq(swansong_child(root, &among), 0);
	swansong_unref(among);
	ck_steps(few.n, few.locks);
	for (unsigned int k = 0; k < MANY; k++)
		ck_assert_uint_eq(steps_within(sibling[k], sizeof(*sibling[k]), false), 0);
	for (unsigned int k = 0; k < MANY; k++) {
		steps_begin();
		swansong_unref(sibling[k]);
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-steps");
	TCase *tc = tcase_create("steps");

	tcase_add_checked_fixture(tc, make_pair, drop_pair);
	tcase_add_loop_test(tc, the_look_at_an_interrupt_is_one_load_of_one_word, 0, 8);
	tcase_add_test(tc, guards_and_interrupts_share_no_cache_line);
	tcase_add_loop_test(
		tc, a_guard_of_a_running_node_is_one_addition_and_one_subtraction_at_any_depth, 0,
		6);
	tcase_add_loop_test(
		tc, a_guard_of_a_stopped_tree_goes_up_only_when_it_is_the_first_or_the_last, 0, 9);
	tcase_add_test(tc, a_child_is_made_and_dropped_without_a_look_at_its_siblings);
	suite_add_tcase(suite, tc);
	return suite;
}
