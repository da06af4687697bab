#include "tests/unit/fixtures/swansong/pair.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "swansong/count/node-private.h"
#include <swansong/swansong.h>

#define ck_assert_guards(s, n) ck_assert_uint_eq(swansong_guard_count(s), n)

START_TEST(each_guard_and_each_clone_is_counted)
{
	struct swansong_guard g[10];

	g[0] = swansong_guard(child);
	for (unsigned int i = 1; i < 10; i++) {
		g[i] = swansong_guard_clone(&g[i - 1]);
		ck_assert_guards(root, i + 1);
	}
	swansong_shut_down(root);
	for (unsigned int i = 0; i < 10; i++) {
		ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
		swansong_guard_drop(&g[i]);
		ck_assert_guards(root, 9 - i);
	}
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

START_TEST(dropping_twice_counts_once)
{
	struct swansong_guard g = swansong_guard(child);
	struct swansong_guard h = swansong_guard(child);

	swansong_guard_drop(&g);
	swansong_guard_drop(&g);
	ck_assert_guards(child, 1);
	swansong_guard_drop(&h);
}
END_TEST

START_TEST(the_empty_guard_is_harmless)
{
	struct swansong_guard empty = { 0 };
	struct swansong_guard clone = swansong_guard_clone(&empty);

	swansong_guard_drop(&clone);
	swansong_guard_drop(&empty);
	ck_assert_guards(root, 0);
}
END_TEST

START_TEST(a_guard_remembers_where_it_was_taken)
{
	struct swansong_guard g = swansong_guard(child);
	unsigned int line = __LINE__ - 1;
	struct swansong_guard h = swansong_guard_clone(&g);

	ck_assert_str_eq(g.file, __FILE__);
	ck_assert_str_eq(g.function, __func__);
	ck_assert_uint_eq(g.line, line);
	ck_assert_uint_eq(h.line, line + 2);
	swansong_guard_drop(&g);
	swansong_guard_drop(&h);
}
END_TEST

START_TEST(a_guard_of_a_block_ends_with_it)
{
	{
		SWANSONG_GUARD_SCOPE(child);
		SWANSONG_GUARD_SCOPE(root);
		ck_assert_guards(root, 2);
	}
	ck_assert_guards(root, 0);
}
END_TEST

/* Both are in one line. */
#define HOLD_BOTH(a, b)          \
	SWANSONG_GUARD_SCOPE(a); \
	SWANSONG_GUARD_SCOPE(b)

START_TEST(a_macro_may_hold_two_guards_of_a_block)
{
	{
		HOLD_BOTH(child, root);
		ck_assert_guards(root, 2);
	}
	ck_assert_guards(root, 0);
}
END_TEST

static uint64_t guards_at_destruction;

static void on_destroy(void *object)
{
	guards_at_destruction += swansong_guard_count(object);
}

START_TEST(a_guarded_object_is_destroyed_before_its_guard_is_dropped)
{
	struct swansong_guarded guarded = swansong_guarded(child, root, on_destroy);

	guards_at_destruction = 0;
	ck_assert_ptr_eq(guarded.object, root);
	ck_assert_guards(root, 1);
	swansong_shut_down(root);
	swansong_guarded_drop(&guarded);
	ck_assert_uint_eq(guards_at_destruction, 1);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
	swansong_guarded_drop(&guarded);
	ck_assert_uint_eq(guards_at_destruction, 1);
}
END_TEST

START_TEST(an_object_may_be_guarded_without_a_destructor)
{
	struct swansong_guarded guarded = swansong_guarded(child, NULL, NULL);

	ck_assert_guards(root, 1);
	swansong_guarded_drop(&guarded);
	ck_assert_guards(root, 0);
}
END_TEST

START_TEST(a_guarded_object_may_be_taken_out_alive)
{
	struct swansong_guarded guarded = swansong_guarded(child, root, on_destroy);

	guards_at_destruction = 0;
	ck_assert_ptr_eq(swansong_guarded_take(&guarded), root);
	ck_assert_guards(root, 0);
	ck_assert_ptr_null(swansong_guarded_take(&guarded));
	swansong_guarded_drop(&guarded);
	ck_assert_uint_eq(guards_at_destruction, 0);
}
END_TEST

/* This thread holds every lock of the library: a guard that took a lock would hang. */
START_TEST(no_lock_is_taken_for_a_guard)
{
	struct swansong_guard held = swansong_guard(child);

	if (_i)
		swansong_shut_down(root);
	lock_take(&root->tree->lock);
	for (int i = 0; i < 10; i++) {
		struct swansong_guard g = swansong_guard(child);
		struct swansong_guard h = swansong_guard_clone(&g);

		swansong_guard_drop(&g);
		swansong_guard_drop(&h);
	}
	if (!root->tree->attachment)	    /* which waits for the end */
		swansong_guard_drop(&held); /* also the last guard, when no thread waits */
	lock_leave(&root->tree->lock);
	swansong_guard_drop(&held);
	ck_assert_guards(root, 0);
}
END_TEST

/* The word of a guard has a cache line without words of interrupts, and without a neighbour's. */
START_TEST(nodes_do_not_share_cache_lines)
{
	ck_assert_uint_eq((uintptr_t)root % CACHE_LINE, 0);
	ck_assert_uint_eq((uintptr_t)child % CACHE_LINE, 0);
	ck_assert_uint_eq(offsetof(struct swansong, home) % CACHE_LINE, 0);
	ck_assert_uint_eq(offsetof(struct swansong, handles),
			  offsetof(struct swansong, home) + CACHE_LINE);
	ck_assert_uint_ge(offsetof(struct swansong, home), CACHE_LINE);
	ck_assert_uint_le(sizeof(*root), 256);
}
END_TEST

/* More guards than fit into 32 bits, at home, above, and while a stop moves them. */
START_TEST(counts_do_not_overflow_at_32_bits)
{
	const uint64_t many = UINT64_C(1) << 40;
	struct swansong_guard g = swansong_guard(child);

	/* Instead of taking them one by one, which takes hours. */
	(void)plain_add(&child->home, many - 1, relaxed);
	ck_assert_guards(root, many);
	swansong_shut_down(child);
	ck_assert_guards(root, many);
	swansong_shut_down(root);
	ck_assert_guards(root, many);
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	(void)shared_sub(&child->total, many - 1, relaxed);
	(void)plain_sub(&child->home, many - 1, relaxed);
	swansong_guard_drop(&g);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

/* The program ends, in place of a node that is never complete. */
START_TEST(a_count_below_zero_ends_the_program)
{
	struct swansong_guard g = swansong_guard(child), copy = g;

	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	if (_i == 1)
		swansong_shut_down(root);
	swansong_guard_drop(&g);
	swansong_guard_drop(&copy); /* on a node that runs, the stop or the last unref() finds it */
	if (_i == 2)
		drop_pair();
	swansong_shut_down(root);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-guard");
	TCase *tc = tcase_create("guard");

	tcase_add_checked_fixture(tc, make_pair, drop_pair);
	tcase_add_test(tc, each_guard_and_each_clone_is_counted);
	tcase_add_test(tc, dropping_twice_counts_once);
	tcase_add_test(tc, the_empty_guard_is_harmless);
	tcase_add_test(tc, a_guard_remembers_where_it_was_taken);
	tcase_add_test(tc, a_guard_of_a_block_ends_with_it);
	tcase_add_test(tc, a_macro_may_hold_two_guards_of_a_block);
	tcase_add_test(tc, a_guarded_object_is_destroyed_before_its_guard_is_dropped);
	tcase_add_test(tc, an_object_may_be_guarded_without_a_destructor);
	tcase_add_test(tc, a_guarded_object_may_be_taken_out_alive);
	tcase_add_loop_test(tc, no_lock_is_taken_for_a_guard, 0, 2);
	tcase_add_test(tc, nodes_do_not_share_cache_lines);
	tcase_add_test(tc, counts_do_not_overflow_at_32_bits);
	tcase_add_loop_test_raise_signal(tc, a_count_below_zero_ends_the_program, SIGABRT, 0, 3);
	suite_add_tcase(suite, tc);
	return suite;
}
