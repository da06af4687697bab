/* Without memory: functions that need none, and functions on objects that exist already. */
#include "tests/unit/swansong/test-nomem.h"

#include <errno.h>

#include "base/macro.h"
#include "tests/unit/fixtures/nomem-counted.h"
#include "tests/unit/fixtures/swansong/pair.h"

START_TEST(a_guard_needs_no_memory)
{
	struct swansong_guard g, h;
	long before = atomic_load(&live);

	allocations_left = 0;
	g = swansong_guard(child);
	h = swansong_guard_clone(&g);
	swansong_shut_down(root);
	swansong_guard_drop(&g);
	swansong_guard_drop(&h);
	allocations_left = -1;
	before -= atomic_load(&live);
	ck_assert_int_eq(before, 0);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

START_TEST(a_guard_without_memory_for_its_record_is_unknown)
{
	struct swansong_report *report;
	struct swansong_guard unknown, known;

	ck_assert_int_eq(swansong_report_enable(root), 0);
	allocations_left = 0;
	unknown = swansong_guard(child);
	allocations_left = -1;
	known = swansong_guard(child);

	ck_assert_int_eq(swansong_report(root, &report), 0);
	ck_assert_uint_eq(report->guards, 2);
	ck_assert_uint_eq(report->unknown, 1);
	(void)swansong_report_free(report);

	swansong_shut_down(root);
	swansong_guard_drop(&unknown);
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	swansong_guard_drop(&known);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

static void count_call(void *arg)
{
	atomic_fetch_add((_Atomic unsigned int *)arg, 1);
}

static void release(void *arg)
{
	atomic_fetch_add((_Atomic unsigned int *)arg, 100);
}

static void count_result(void *arg, int result)
{
	atomic_fetch_add((_Atomic unsigned int *)arg, result == 0 ? 10 : 1000);
}

/* The number that were accepted. */
static int ask(struct swansong_loop *loop, struct swansong_pool *pool, _Atomic unsigned int *calls)
{
	const struct swansong_offload o = { count_call, count_result, release, calls };
	int r[] = {
		swansong_loop_post(loop, count_call, calls),
		swansong_pool_submit(pool, count_call, calls),
		swansong_pool_offload(pool, loop, &o, UINT64_MAX),
	};
	int accepted = 0;

	for (size_t k = 0; k < ARRAY_SIZE(r); k++)
		accepted += r[k] == 0 ? 1 : r[k] == -ENOMEM ? 0 : 100;
	return accepted;
}

START_TEST(a_function_without_memory_for_its_post_or_job_is_never_called)
{
	_Atomic unsigned int refused = 0, calls = 0;
	struct swansong_loop *loop;
	struct swansong_pool *pool;
	int without, with;
	uint64_t guards_without;
	long before, after;

	ck_assert_int_eq(swansong_loop_new(child, &loop), 0);
	ck_assert_int_eq(swansong_loop_start(loop), 0);
	ck_assert_int_eq(swansong_pool_new(child, 1, &pool), 0);

	before = atomic_load(&live);
	allocations_left = 0;
	without = ask(loop, pool, &refused);
	allocations_left = -1;
	guards_without = swansong_guard_count(root);
	with = ask(loop, pool, &calls);
	swansong_pool_stop(pool);
	(void)swansong_loop_stop(loop);
	after = atomic_load(&live);

	ck_assert_int_eq(without, 0);
	ck_assert_uint_eq(guards_without, 0);
	ck_assert_uint_eq(refused, 0);
	ck_assert_int_eq(with, 3);
	ck_assert_uint_eq(calls, 113);
	ck_assert_int_eq(after, before);
	(void)swansong_pool_unref(pool);
	(void)swansong_loop_unref(loop);
}
END_TEST

TCase *nomem_use_case(void)
{
	TCase *tc = tcase_create("nomem-use");

	tcase_add_checked_fixture(tc, make_pair, drop_pair);
	tcase_add_test(tc, a_guard_needs_no_memory);
	tcase_add_test(tc, a_guard_without_memory_for_its_record_is_unknown);
	tcase_add_test(tc, a_function_without_memory_for_its_post_or_job_is_never_called);
	return tc;
}
