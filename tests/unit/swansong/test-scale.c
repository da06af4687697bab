/* Large trees: their cost, and that depth is no limit. */
#include "tests/unit/fixtures/main.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include <swansong/swansong.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MALLOC_IS_REPLACED 1
#else
#define MALLOC_IS_REPLACED 0
#endif

#define DEPTH 20000
#define WIDTH 100000

/* Processor time of this thread: other load does not count. */
static uint64_t now_nsec(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

/* ---- deep ---- */

/* A reference to the root, and the node at the other end of a chain of nameless nodes. */
static struct swansong *deep_root, *deep_leaf;
static struct swansong_interrupt *deep_interrupt[2];

static void make_deep(void)
{
	ck_assert_int_eq(swansong_new(&deep_root), 0);
	deep_leaf = swansong_ref(deep_root);
	for (int i = 0; i < DEPTH; i++) {
		struct swansong *below;

		ck_assert_int_eq(swansong_child(deep_leaf, &below), 0);
		if (i == 0)
			ck_assert_int_eq(swansong_interrupt_new(below, &deep_interrupt[0]), 0);
		swansong_unref(deep_leaf);
		deep_leaf = below;
	}
	ck_assert_int_eq(swansong_interrupt_new(deep_leaf, &deep_interrupt[1]), 0);
}

static void *stop_deep(void *arg)
{
	struct swansong_guard g = swansong_guard(deep_leaf);

	(void)arg;
	ck_assert_uint_eq(swansong_guard_count(deep_root), 1);
	swansong_shut_down(deep_root);
	ck_assert(swansong_interrupted(deep_interrupt[1]));
	ck_assert_uint_eq(swansong_guard_count(deep_root), 1);
	ck_assert_int_eq(swansong_state(deep_root), SWANSONG_SHUTTING_DOWN);
	swansong_guard_drop(&g);
	ck_assert_int_eq(swansong_state(deep_root), SWANSONG_COMPLETE);
	return NULL;
}

/* The guard is all that keeps the chain. */
static void *collect_deep(void *arg)
{
	struct swansong_guard g = swansong_guard(deep_leaf);

	(void)arg;
	deep_leaf = swansong_unref(deep_leaf);
	ck_assert(!swansong_interrupted(deep_interrupt[0]));
	swansong_guard_drop(&g);
	ck_assert(swansong_interrupted(deep_interrupt[0]));
	ck_assert_int_eq(swansong_state(deep_root), SWANSONG_RUNNING);
	return NULL;
}

/* On a stack that does not have 20,000 frames. */
START_TEST(depth_is_no_limit)
{
	void *(*const body[])(void *) = { stop_deep, collect_deep };
	pthread_attr_t attr;
	pthread_t thread;

	make_deep();
	pthread_attr_init(&attr);
	ck_assert_int_eq(pthread_attr_setstacksize(&attr, 256 * 1024), 0);
	ck_assert_int_eq(pthread_create(&thread, &attr, body[_i], NULL), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	swansong_unref(deep_leaf);
	swansong_unref(deep_root);
	swansong_interrupt_unref(deep_interrupt[0]);
	swansong_interrupt_unref(deep_interrupt[1]);
}
END_TEST

START_TEST(a_node_at_any_depth_takes_at_most_256_bytes)
{
	size_t before = mallinfo2().uordblks;
	size_t after;

	make_deep();
	after = mallinfo2().uordblks;
	ck_assert_uint_le((after - before) / DEPTH, 256);
	swansong_unref(deep_leaf);
	swansong_unref(deep_root);
	swansong_interrupt_unref(deep_interrupt[0]);
	swansong_interrupt_unref(deep_interrupt[1]);
	ck_assert_uint_le(mallinfo2().uordblks, before + 65536); /* malloc keeps some */
}
END_TEST

/* The counters in statm are kept for each processor, and are wrong by megabytes where there are many. */
static long resident_kbytes(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	long kbytes = 0;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%*[^\n] Rss: %ld", &kbytes), 1);
	(void)fclose(f);
	return kbytes;
}

/* The memory that is resident, with the room that malloc() leaves between nodes. */
START_TEST(nodes_are_resident_with_at_most_256_bytes_each)
{
	struct swansong **nodes = malloc(WIDTH * sizeof(*nodes));
	struct swansong *root;
	long before, after;

	ck_assert_ptr_nonnull(nodes);
	memset(nodes, 0xff, WIDTH * sizeof(*nodes));
	ck_assert_int_eq(swansong_new(&root), 0);
	(void)malloc_trim(0);
	before = resident_kbytes();
	for (int i = 0; i < WIDTH; i++)
		ck_assert_int_eq(swansong_child(root, &nodes[i]), 0);
	after = resident_kbytes();
	if (!MALLOC_IS_REPLACED)
		ck_assert_int_le((after - before) * 1024 / WIDTH, 256);
	for (int i = 0; i < WIDTH; i++)
		swansong_unref(nodes[i]);
	swansong_unref(root);
	free(nodes);
}
END_TEST

/* From the bottom up each level is stopped once: this is linear, too, in all. */
START_TEST(stopping_level_by_level_walks_nothing_twice)
{
	struct swansong **level = calloc(DEPTH, sizeof(*level));
	uint64_t start;

	ck_assert_ptr_nonnull(level);
	ck_assert_int_eq(swansong_new(&level[0]), 0);
	for (int i = 1; i < DEPTH; i++)
		ck_assert_int_eq(swansong_child(level[i - 1], &level[i]), 0);
	start = now_nsec();
	for (int i = DEPTH - 1; i >= 0; i--)
		swansong_shut_down(level[i]);
	/* 1 µs for each, where a walk of the subtree each time takes a thousand times as long. */
	ck_assert_uint_lt(now_nsec() - start, UINT64_C(20000) * DEPTH);
	for (int i = 0; i < DEPTH; i++)
		swansong_unref(level[i]);
	free(level);
}
END_TEST

/* ---- wide ---- */

static struct swansong *wide_root;
static struct swansong **wide;

static void make_wide(int n)
{
	ck_assert_int_eq(swansong_new(&wide_root), 0);
	wide = calloc((size_t)n + 1, sizeof(*wide));
	ck_assert_ptr_nonnull(wide);
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(swansong_child(wide_root, &wide[i]), 0);
}

static void drop_wide(int n)
{
	for (int i = 0; i < n; i++)
		swansong_unref(wide[i]);
	swansong_unref(wide_root);
	free(wide);
}

static uint64_t cost_of_child(int siblings)
{
	enum { TIMES = 20000 };
	uint64_t start, end;

	make_wide(siblings);
	start = now_nsec();
	for (int i = 0; i < TIMES; i++) {
		struct swansong *s;

		ck_assert_int_eq(swansong_child(wide_root, &s), 0);
		swansong_unref(s);
	}
	end = now_nsec();
	drop_wide(siblings);
	return (end - start) / TIMES;
}

START_TEST(a_child_costs_the_same_among_many)
{
	uint64_t alone = cost_of_child(1);
	uint64_t among = cost_of_child(WIDTH);

	ck_assert_msg(among < 20 * (alone + 50), "%lu ns alone, %lu ns among %d", alone, among,
		      WIDTH);
}
END_TEST

START_TEST(a_dropped_child_is_freed_at_once)
{
	size_t before, after;

	make_wide(1);
	before = mallinfo2().uordblks;
	for (int i = 0; i < 1000; i++) {
		struct swansong *s;
		struct swansong_guard g;

		ck_assert_int_eq(swansong_child(wide_root, &s), 0);
		g = swansong_guard(s);
		swansong_unref(s);
		swansong_guard_drop(&g);
	}
	after = mallinfo2().uordblks;
	ck_assert_uint_le(after, before + 65536); /* memory that malloc keeps at hand */
	drop_wide(1);
}
END_TEST

static uint64_t cost_of_stop(int n)
{
	uint64_t start, end;
	struct swansong_guard *g = calloc((size_t)n, sizeof(*g));

	ck_assert_ptr_nonnull(g);
	make_wide(n);
	for (int i = 0; i < n; i++)
		g[i] = swansong_guard(wide[i]);
	ck_assert_uint_eq(swansong_guard_count(wide_root), (uint64_t)n);
	start = now_nsec();
	swansong_shut_down(wide_root);
	end = now_nsec();
	ck_assert_uint_eq(swansong_guard_count(wide_root), (uint64_t)n);
	for (int i = 0; i < n; i++) {
		ck_assert_int_eq(swansong_state(wide_root), SWANSONG_SHUTTING_DOWN);
		swansong_guard_drop(&g[i]);
	}
	ck_assert_int_eq(swansong_state(wide_root), SWANSONG_COMPLETE);
	drop_wide(n);
	free(g);
	return end - start;
}

START_TEST(a_stop_costs_the_same_for_each_node)
{
	uint64_t few = cost_of_stop(WIDTH / 100);
	uint64_t many = cost_of_stop(WIDTH);

	ck_assert_msg(many < 20 * 100 * (few + 10000), "%lu ns for %d, %lu ns for %d", few,
		      WIDTH / 100, many, WIDTH);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-scale");
	TCase *tc = tcase_create("scale");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, depth_is_no_limit, 0, 2);
	tcase_add_test(tc, stopping_level_by_level_walks_nothing_twice);
	tcase_add_test(tc, a_child_costs_the_same_among_many);
	tcase_add_test(tc, a_stop_costs_the_same_for_each_node);
	if (!MALLOC_IS_REPLACED) {
		tcase_add_test(tc, a_node_at_any_depth_takes_at_most_256_bytes);
		tcase_add_test(tc, nodes_are_resident_with_at_most_256_bytes_each);
		tcase_add_test(tc, a_dropped_child_is_freed_at_once);
	}
	suite_add_tcase(suite, tc);
	return suite;
}
