/* The numbers on the page of an attached program, and when they are exact. */
#include "tests/unit/fixtures/swansong/attached-pair.h"

#include <pthread.h>

#include "base/macro.h"

START_TEST(the_page_counts_the_guards_of_all_nodes)
{
	struct swansong_guard a = swansong_guard(root), b = swansong_guard(child), c;
	struct swansong *grandchild;

	ck_assert_int_eq(swansong_child(child, &grandchild), 0);
	c = swansong_guard(grandchild);
	ck_assert_int_eq(fake_daemon_guards(&fake), 3);
	ck_assert_uint_eq(fake.page->gathered, 0);
	ck_assert_int_eq(fake.page->elsewhere, 0);
	swansong_guard_drop(&a);
	ck_assert_int_eq(fake_daemon_guards(&fake), 2);
	swansong_shut_down(root);
	ck_assert_uint_eq(fake.page->gathered, 1);
	ck_assert_int_eq(fake.page->elsewhere, 2);
	swansong_guard_drop(&b);
	ck_assert_int_eq(fake_daemon_guards(&fake), 1);
	swansong_guard_drop(&c);
	ck_assert_int_eq(fake_daemon_guards(&fake), 0);
	grandchild = swansong_unref(grandchild);
}
END_TEST

START_TEST(a_stop_of_a_child_changes_nothing_in_the_page)
{
	struct swansong_guard a = swansong_guard(child), b;

	swansong_shut_down(child);
	b = swansong_guard(child);
	ck_assert_int_eq(fake_daemon_guards(&fake), 2);
	ck_assert_uint_eq(fake.page->gathered, 0);
	swansong_guard_drop(&a);
	swansong_guard_drop(&b);
	ck_assert_int_eq(swansong_state(child), SWANSONG_COMPLETE);
	ck_assert_int_eq(fake_daemon_guards(&fake), 0);
	a = swansong_guard(root);
	ck_assert_int_eq(fake_daemon_guards(&fake), 1);
	swansong_guard_drop(&a);
}
END_TEST

START_TEST(late_guards_are_counted)
{
	struct swansong_guard g;

	swansong_shut_down(root);
	hear("COMPLETE");
	g = swansong_guard(child);
	ck_assert_int_eq(fake_daemon_guards(&fake), 1);
	swansong_guard_drop(&g);
	ck_assert_int_eq(fake_daemon_guards(&fake), 0);
	drop_pair();
	hear("");
	fake.socket = -1;
}
END_TEST

/* Guards are taken and dropped in one phase each; the node goes from one phase to the next. */
enum { RUNNING, SPREAD, REPORTED, CHILD_STOPPED, STOPPED, N_PHASES };

static void enter_phase(int phase)
{
	if (phase == SPREAD)
		ck_assert_int_eq(swansong_percpu_enable(child), 0);
	else if (phase == REPORTED)
		ck_assert_int_eq(swansong_report_enable(root), 0);
	else if (phase == CHILD_STOPPED)
		swansong_shut_down(child);
	else if (phase == STOPPED)
		swansong_shut_down(root);
}

START_TEST(a_guard_may_be_taken_in_any_phase_and_dropped_in_any_later)
{
	struct swansong_guard g[N_PHASES][N_PHASES] = { 0 };
	int64_t held = 0;

	for (int phase = 0; phase < N_PHASES; phase++) {
		enter_phase(phase);
		for (int later = phase; later < N_PHASES; later++, held++)
			g[phase][later] = swansong_guard(child);
		for (int earlier = 0; earlier <= phase; earlier++, held--) {
			ck_assert_int_eq(fake_daemon_guards(&fake), held);
			ck_assert_uint_eq(swansong_guard_count(root), (uint64_t)held);
			swansong_guard_drop(&g[earlier][phase]);
		}
	}
	ck_assert_int_eq(fake_daemon_guards(&fake), 0);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

START_TEST(many_nodes_are_no_matter)
{
	static struct swansong_guard g[3000];
	struct swansong *s;

	for (size_t i = 0; i < ARRAY_SIZE(g); i++) {
		ck_assert_int_eq(swansong_child(child, &s), 0);
		g[i] = swansong_guard(s);
		s = swansong_unref(s);
	}
	ck_assert_int_eq(fake_daemon_guards(&fake), ARRAY_SIZE(g));
	for (size_t i = 0; i < ARRAY_SIZE(g); i++)
		swansong_guard_drop(&g[i]);
	ck_assert_int_eq(fake_daemon_guards(&fake), 0);
}
END_TEST

START_TEST(processors_without_a_lane_are_counted_elsewhere)
{
	struct swansong_guard g;

	ck_assert(fake_daemon_make(&fake, 0, FAKE_DAEMON_SEALS));
	ck_assert_int_eq(swansong_attach(&root), 1);
	g = swansong_guard(root);
	ck_assert_int_eq(fake_daemon_guards(&fake), 1);
	ck_assert_int_eq(fake.page->elsewhere, 1);
	swansong_guard_drop(&g);
	ck_assert_int_eq(fake_daemon_guards(&fake), 0);
	root = swansong_unref(root);
}
END_TEST

START_TEST(guards_left_by_an_earlier_process_do_not_count)
{
	make_daemon();
	fake.page->elsewhere = 77;
	fake.page->gathered = 1;
	for (unsigned int i = 0; i < LANES; i++)
		page_lanes(fake.page)[i].count = PAGE_VOID + 5;
	ck_assert_int_eq(swansong_attach(&root), 1);
	ck_assert_int_eq(fake_daemon_guards(&fake), 0);
	ck_assert_uint_eq(fake.page->gathered, 0);
	root = swansong_unref(root);
}
END_TEST

static const uint64_t scribbles[] = { 0, UINT64_MAX, PAGE_VOID, INT64_MAX, 0x5555555555555555 };

/* A program that writes there makes the page wrong, and the tree goes on. */
START_TEST(overwriting_the_page_makes_only_the_page_wrong)
{
	struct swansong_guard a = swansong_guard(root), b = swansong_guard(child);
	uint64_t *words = (uint64_t *)(void *)fake.page;

	for (size_t i = 0; i < fake.size / sizeof(*words); i++)
		words[i] = scribbles[_i];
	ck_assert_uint_eq(swansong_guard_count(root), 2);
	swansong_guard_drop(&a);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	a = swansong_guard(child);
	swansong_guard_drop(&b);
	ck_assert_int_eq(swansong_state(root), SWANSONG_SHUTTING_DOWN);
	swansong_guard_drop(&a);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}
END_TEST

/* ---- many threads ---- */

#define THREADS 4
#define TURNS	20000

static struct swansong_guard handed[THREADS]; /* taken by a thread, dropped by another */
static _Atomic bool over;

static void *take_and_drop(void *arg)
{
	struct swansong_guard *last = arg;

	for (unsigned int i = 0; i < TURNS; i++) {
		struct swansong_guard g = swansong_guard(i % 2 ? root : child);
		struct swansong_guard clone = swansong_guard_clone(&g);

		swansong_guard_drop(&g);
		swansong_guard_drop(&clone);
	}
	*last = swansong_guard(child);
	return NULL;
}

/* Whenever the page is exact, it counts the guard that is held all the time. */
static void *watch_page(void *arg)
{
	unsigned long *faults = arg;

	while (!over)
		if (__atomic_load_n(&fake.page->gathered, __ATOMIC_ACQUIRE) &&
		    fake_daemon_guards(&fake) < 1)
			(*faults)++;
	return NULL;
}

START_TEST(many_threads_and_a_stop_lose_no_guard)
{
	pthread_t threads[THREADS], watcher;
	struct swansong_guard held = swansong_guard(child);
	unsigned long faults = 0;

	ck_assert_int_eq(pthread_create(&watcher, NULL, watch_page, &faults), 0);
	for (unsigned int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, take_and_drop, &handed[i]), 0);
	say("STOP");
	for (unsigned int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_int_eq(swansong_stopped_wait(root, clock_now_usec() + LONG), 0);
	swansong_shut_down(root); /* passes the lock on and takes it again */
	ck_assert_int_eq(fake_daemon_guards(&fake), THREADS + 1);
	over = true;
	ck_assert_int_eq(pthread_join(watcher, NULL), 0);
	ck_assert_uint_eq(faults, 0);
	for (unsigned int i = 0; i < THREADS; i++)
		swansong_guard_drop(&handed[i]);
	ck_assert_int_eq(fake_daemon_guards(&fake), 1);
	swansong_guard_drop(&held);
}
END_TEST

static TCase *checks(void)
{
	TCase *tc = tcase_create("checks");

	tcase_add_test(tc, processors_without_a_lane_are_counted_elsewhere);
	tcase_add_test(tc, guards_left_by_an_earlier_process_do_not_count);
	return tc;
}

static TCase *attached(void)
{
	TCase *tc = tcase_create("attached");

	tcase_add_checked_fixture(tc, make_attached, drop_attached);
	tcase_add_test(tc, the_page_counts_the_guards_of_all_nodes);
	tcase_add_test(tc, a_stop_of_a_child_changes_nothing_in_the_page);
	tcase_add_test(tc, late_guards_are_counted);
	tcase_add_test(tc, a_guard_may_be_taken_in_any_phase_and_dropped_in_any_later);
	tcase_add_test(tc, many_nodes_are_no_matter);
	tcase_add_loop_test(tc, overwriting_the_page_makes_only_the_page_wrong, 0,
			    ARRAY_SIZE(scribbles));
	tcase_add_test(tc, many_threads_and_a_stop_lose_no_guard);
	return tc;
}

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-attach-page");

	suite_add_tcase(suite, checks());
	suite_add_tcase(suite, attached());
	return suite;
}
