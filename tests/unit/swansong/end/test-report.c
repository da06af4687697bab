#include "tests/unit/fixtures/swansong/pair.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include <swansong/swansong.h>

static struct swansong_report *report_of(struct swansong *s)
{
	struct swansong_report *report;

	ck_assert_int_eq(swansong_report(s, &report), 0);
	return report;
}

/* A guard from line @line of a file that does not exist. */
static struct swansong_guard guard_from(struct swansong *s, unsigned int line)
{
	return swansong_guard_at(s, "web.c", line, "serve");
}

static void enable(void)
{
	ck_assert_int_eq(swansong_report_enable(child), 0);
}

static void ck_report(struct swansong *s, uint64_t guards, uint64_t unknown, size_t sites)
{
	struct swansong_report *report = report_of(s);

	ck_assert_uint_eq(report->guards, guards);
	ck_assert_uint_eq(report->unknown, unknown);
	ck_assert_uint_eq(report->n, sites);
	swansong_report_free(report);
}

START_TEST(without_being_switched_on_all_guards_are_unknown)
{
	struct swansong_guard g = swansong_guard(child);

	ck_report(root, 1, 1, 0);
	ck_assert_uint_eq(g.record, 0);
	swansong_guard_drop(&g);
	ck_report(root, 0, 0, 0);
	ck_assert_ptr_null(swansong_report_free(NULL));
}
END_TEST

START_TEST(guards_taken_before_are_unknown)
{
	struct swansong_guard before = swansong_guard(child), after;

	enable();
	after = swansong_guard_clone(&before);
	ck_report(root, 2, 1, 1);
	swansong_guard_drop(&before);
	ck_report(root, 1, 0, 1);
	swansong_guard_drop(&after);
	ck_report(root, 0, 0, 0);
}
END_TEST

START_TEST(a_site_is_where_the_guard_was_taken_or_cloned)
{
	struct swansong_guard g, h;
	struct swansong_report *report;
	unsigned int line;

	enable();
	line = __LINE__ + 1;
	g = swansong_guard(child);
	h = swansong_guard_clone(&g);
	report = report_of(root);
	ck_assert_uint_eq(report->n, 2);
	for (size_t k = 0; k < 2; k++) {
		ck_assert_str_eq(report->sites[k].file, __FILE__);
		ck_assert_str_eq(report->sites[k].function, __func__);
		ck_assert_uint_eq(report->sites[k].guards, 1);
	}
	ck_assert_uint_eq(report->sites[0].line + report->sites[1].line, 2 * line + 1);
	swansong_report_free(report);
	swansong_guard_drop(&g);
	swansong_guard_drop(&h);
}
END_TEST

/* Waits until the clock shows another time. */
static void pass_time(void)
{
	uint64_t start = clock_now_usec();

	while (clock_now_usec() == start)
		;
}

START_TEST(guards_of_one_site_are_one_and_the_oldest_is_first)
{
	static const unsigned int lines[] = { 7, 3, 7, 5, 3, 7 };
	static const struct {
		unsigned int line;
		uint64_t guards;
	} want[] = { { 7, 3 }, { 3, 2 }, { 5, 1 } };
	struct swansong_guard g[ARRAY_SIZE(lines)];
	struct swansong_report *report;
	uint64_t start = clock_now_usec();

	enable();
	for (size_t k = 0; k < ARRAY_SIZE(lines); k++) {
		g[k] = guard_from(k % 2 ? root : child, lines[k]);
		pass_time();
	}
	report = report_of(root);
	ck_assert_uint_eq(report->n, ARRAY_SIZE(want));
	for (size_t k = 0; k < report->n; k++) {
		ck_assert_uint_eq(report->sites[k].line, want[k].line);
		ck_assert_uint_eq(report->sites[k].guards, want[k].guards);
		ck_assert_uint_gt(report->sites[k].oldest, 0);
		ck_assert_uint_le(report->sites[k].oldest, clock_now_usec() - start);
		if (k > 0)
			ck_assert_uint_gt(report->sites[k - 1].oldest, report->sites[k].oldest);
	}
	swansong_report_free(report);
	for (size_t k = 0; k < ARRAY_SIZE(lines); k++)
		swansong_guard_drop(&g[k]);
}
END_TEST

START_TEST(a_report_is_of_the_subtree)
{
	struct swansong *beside;
	struct swansong_guard g[3];

	ck_assert_int_eq(swansong_child(root, &beside), 0);
	enable();
	g[0] = guard_from(root, 1);
	g[1] = guard_from(child, 2);
	g[2] = guard_from(beside, 3);
	ck_report(root, 3, 0, 3);
	ck_report(child, 1, 0, 1);
	ck_report(beside, 1, 0, 1);
	for (unsigned int k = 0; k < 3; k++)
		swansong_guard_drop(&g[k]);
	swansong_unref(beside);
}
END_TEST

START_TEST(another_tree_is_not_switched_on)
{
	struct swansong *other;
	struct swansong_guard g;

	enable();
	ck_assert_int_eq(swansong_new(&other), 0);
	g = swansong_guard(other);
	ck_report(other, 1, 1, 0);
	swansong_guard_drop(&g);
	swansong_unref(other);
}
END_TEST

START_TEST(it_is_switched_on_for_present_and_later_nodes)
{
	struct swansong *below, *late;
	struct swansong_guard g[4];

	ck_assert_int_eq(swansong_child(child, &below), 0);
	if (_i & 1)
		swansong_shut_down(child); /* nodes below a stopped one, too */
	enable();
	enable();
	if (_i & 2)
		swansong_shut_down(root);
	ck_assert_int_eq(swansong_child(below, &late), 0);
	g[0] = guard_from(root, 1);
	g[1] = guard_from(child, 1);
	g[2] = guard_from(below, 1);
	g[3] = guard_from(late, 1);
	ck_report(root, 4, 0, 1);
	ck_report(late, 1, 0, 1);
	for (unsigned int k = 0; k < 4; k++)
		swansong_guard_drop(&g[k]);
	ck_report(root, 0, 0, 0);
	swansong_unref(below);
	swansong_unref(late);
}
END_TEST

START_TEST(a_guard_may_be_moved_and_outlive_the_names_of_its_node)
{
	struct swansong_guard g, moved;

	enable();
	g = guard_from(child, 1);
	moved = g;
	child = swansong_unref(child);
	ck_report(root, 1, 0, 1);
	swansong_guard_drop(&moved);
	ck_report(root, 0, 0, 0);
	g = guard_from(root, 1);
	root = swansong_unref(root);
	swansong_guard_drop(&g); /* the end of the tree, and of its records */
}
END_TEST

START_TEST(a_guard_without_a_site_is_unknown)
{
	struct swansong_guard g, h;

	enable();
	g = swansong_guard_at(child, NULL, 0, "serve");
	h = swansong_guard_at(child, "web.c", 0, NULL);
	ck_report(root, 2, 2, 0);
	swansong_guard_drop(&g);
	swansong_guard_drop(&h);
}
END_TEST

START_TEST(a_guarded_interrupt_has_a_site)
{
	struct swansong_interrupt *i;

	enable();
	ck_assert_int_eq(swansong_interrupt_new_guarded(child, &i), 0);
	ck_report(root, 1, 0, 1);
	swansong_interrupt_unref(i);
}
END_TEST

#define MANY 5000

START_TEST(records_are_counted_and_reused)
{
	static struct swansong_guard g[MANY];
	uint32_t highest = 0;

	enable();
	for (int round = 0; round < 3; round++) {
		for (unsigned int k = 0; k < MANY; k++) {
			g[k] = guard_from(child, k % 100 + 1);
			if (round == 0)
				highest = g[k].record > highest ? g[k].record : highest;
		}
		ck_report(root, MANY, 0, 100);
		for (unsigned int k = 0; k < MANY; k++)
			swansong_guard_drop(&g[(k * 7) % MANY]);
		ck_report(root, 0, 0, 0);
	}
	ck_assert_uint_gt(highest, 0);
	ck_assert_uint_le(highest, MANY * 16 + 16);
}
END_TEST

static const struct text {
	struct swansong_report report;
	const char *text;
} texts[] = {
	{ { 0 }, "0 outstanding guards" },
	{ { .guards = 1, .unknown = 1 }, "1 outstanding guard: 1 x unknown" },
	{ { .guards = 3,
	    .unknown = 1,
	    .n = 1,
	    .sites =
		    &(const struct swansong_report_site){
			    .file = "web.c", .line = 41, .guards = 2, .oldest = 42300000 } },
	  "3 outstanding guards: 2 x web.c:41 (oldest 42.3s), 1 x unknown" },
	{ { .guards = 2,
	    .n = 2,
	    .sites =
		    (const struct swansong_report_site[]){
			    { .file = "a", .line = 1, .guards = 1, .oldest = 90000000 },
			    { .file = "b", .line = 2, .guards = 1, .oldest = 7000 } } },
	  "2 outstanding guards: 1 x a:1 (oldest 1min 30s), 1 x b:2 (oldest 7ms)" },
};

START_TEST(a_report_is_a_line_of_text)
{
	char *text;

	ck_assert_int_eq(swansong_report_text(&texts[_i].report, &text), 0);
	ck_assert_str_eq(text, texts[_i].text);
	free(text);
}
END_TEST

/* ---- races ---- */

#define THREADS 4

static struct race {
	pthread_t thread;
	unsigned int line;
	struct swansong *node;
	struct swansong_guard held; /* from before, from line 1000 + line */
} races[THREADS];

static struct swansong_guard *_Atomic parcel;
static _Atomic int running;

/* Takes, clones, moves, drops; and hands guards on, to be dropped by the thread that comes next. */
static void *race_main(void *arg)
{
	struct race *race = arg;

	for (int round = 0; round < 1000; round++) {
		struct swansong_guard *mine = malloc(sizeof(*mine)), *other;
		struct swansong_guard g = guard_from(race->node, race->line);
		struct swansong_guard h = swansong_guard_clone(&race->held);

		*mine = g;
		other = atomic_exchange(&parcel, mine);
		swansong_guard_drop(&h);
		if (other)
			swansong_guard_drop(other);
		free(other);
	}
	swansong_guard_drop(&race->held);
	atomic_fetch_sub(&running, 1);
	return NULL;
}

static void end_race(void)
{
	struct swansong_guard *last;

	for (int k = 0; k < THREADS; k++)
		pthread_join(races[k].thread, NULL);
	last = atomic_exchange(&parcel, NULL);
	swansong_guard_drop(last);
	free(last);
}

/* The report is switched on before, or while they race; and the tree is stopped meanwhile. */
START_TEST(a_report_may_be_made_at_any_time_and_forgets_no_guard)
{
	struct swansong_guard all;

	if (_i == 0)
		enable();
	running = THREADS;
	for (unsigned int k = 0; k < THREADS; k++) {
		races[k] = (struct race){ .line = k, .node = k % 2 ? root : child };
		races[k].held = guard_from(races[k].node, 1000 + k);
		pthread_create(&races[k].thread, NULL, race_main, &races[k]);
	}
	if (_i == 1)
		enable();
	all = guard_from(child, 9999);
	while (atomic_load(&running)) {
		struct swansong_report *report = report_of(root);
		bool found = false;

		for (size_t k = 0; k < report->n; k++) {
			const struct swansong_report_site *site = &report->sites[k];

			ck_assert_uint_gt(site->guards, 0);
			if (strcmp(site->file, "web.c") == 0 && site->line == 9999)
				found = site->guards == 1;
		}
		ck_assert(found);
		swansong_report_free(report);
		swansong_shut_down(root);
	}
	end_race();
	ck_report(root, 1, 0, 1);
	swansong_guard_drop(&all);
	ck_report(root, 0, 0, 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-report");
	TCase *tc = tcase_create("report");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_pair, drop_pair);
	tcase_add_test(tc, without_being_switched_on_all_guards_are_unknown);
	tcase_add_test(tc, guards_taken_before_are_unknown);
	tcase_add_test(tc, a_site_is_where_the_guard_was_taken_or_cloned);
	tcase_add_test(tc, guards_of_one_site_are_one_and_the_oldest_is_first);
	tcase_add_test(tc, a_report_is_of_the_subtree);
	tcase_add_test(tc, another_tree_is_not_switched_on);
	tcase_add_loop_test(tc, it_is_switched_on_for_present_and_later_nodes, 0, 4);
	tcase_add_test(tc, a_guard_may_be_moved_and_outlive_the_names_of_its_node);
	tcase_add_test(tc, a_guard_without_a_site_is_unknown);
	tcase_add_test(tc, a_guarded_interrupt_has_a_site);
	tcase_add_test(tc, records_are_counted_and_reused);
	tcase_add_loop_test(tc, a_report_is_a_line_of_text, 0, ARRAY_SIZE(texts));
	tcase_add_loop_test(tc, a_report_may_be_made_at_any_time_and_forgets_no_guard, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
