#include "tests/unit/fixtures/main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/loop/trace.h"

static struct traces traces;
static struct trace *web;

static void setup(void)
{
	traces_init(&traces);
	traces_want(&traces, true, false);
	ck_assert_int_eq(trace_new(&web, &traces, (struct node *)&traces, "web"), 0);
}

static void teardown(void)
{
	traces_done(&traces);
}

static void see(uint64_t id, const char *kind, uint64_t now)
{
	struct guard_view guard = {
		.id = id,
		.kind = kind,
		.pid = 7,
		.uid = FIELD_NONE,
		.command = "command",
		.why = "reason",
		.age_usec = 10,
		.count = FIELD_NONE,
	};

	trace_scan_guard(web, &guard, now);
}

static struct trace_guard *guard(unsigned n)
{
	struct trace_guard *g;

	list_for_each (g, &web->guards, of_trace)
		if (n-- == 0)
			return g;
	return NULL;
}

START_TEST(states_are_kept_from_the_stop_on)
{
	trace_state(web, "up", 50);
	ck_assert_uint_eq(web->n_states, 0);
	trace_begin(web, 3, "up", 100);
	trace_state(web, "stopping", 110);
	ck_assert_uint_eq(web->n_states, 2);
	ck_assert_str_eq(web->states[1].state, "stopping");
	ck_assert_uint_eq(web->states[1].usec, 110);
	ck_assert_uint_eq(web->generation, 3);
	/* The next generation has a trace of its own. */
	trace_begin(web, 4, "up", 200);
	ck_assert_uint_eq(web->n_states, 1);
}
END_TEST

START_TEST(states_too_many_are_counted)
{
	trace_begin(web, 1, "up", 100);
	for (unsigned i = 0; i < TRACE_STATES_MAX + 4; i++)
		trace_state(web, "killing", 101 + i);
	ck_assert_uint_eq(web->n_states, TRACE_STATES_MAX);
	ck_assert_uint_eq(traces.lost, 5);
}
END_TEST

START_TEST(only_nodes_touched_after_the_stop_are_looked_at)
{
	trace_touch(web);
	ck_assert(list_is_empty(&traces.touched));
	traces_begin(&traces, "SIGTERM", 100);
	trace_touch(web);
	trace_touch(web);
	ck_assert_ptr_eq(traces.touched.next, &web->in_touched);
	ck_assert_ptr_eq(traces.touched.prev, &web->in_touched);
	/* The first stop counts. */
	traces_begin(&traces, "again", 200);
	ck_assert_uint_eq(traces.stop_usec, 100);
	ck_assert_str_eq(traces.cause, "SIGTERM");
}
END_TEST

START_TEST(guard_ends_at_the_scan_that_misses_it)
{
	traces_begin(&traces, "", 100);
	trace_begin_scan(web);
	see(1, "process", 100);
	see(2, "lease", 100);
	trace_end_scan(web, 100);
	ck_assert_uint_eq(guard(0)->since_usec, 90);
	ck_assert_uint_eq(guard(1)->gone_usec, 0);
	ck_assert_str_eq(guard(1)->text, "command");
	ck_assert_str_eq(guard(1)->text + guard(1)->why, "reason");

	trace_guard_end(web, 2, "revoked");
	trace_begin_scan(web);
	see(1, "leftover", 150);
	trace_end_scan(web, 150);
	ck_assert_str_eq(guard(0)->kind, "leftover");
	ck_assert_uint_eq(guard(0)->gone_usec, 0);
	ck_assert_uint_eq(guard(1)->gone_usec, 150);
	ck_assert_str_eq(guard(1)->end, "revoked");
	ck_assert_uint_eq(traces.n_used, 2);
}
END_TEST

START_TEST(guards_without_a_place_are_counted)
{
	size_t n = traces.n_places;

	ck_assert_uint_gt(n, 0);
	traces_begin(&traces, "", 100);
	for (uint64_t id = 1; id <= n + 3; id++)
		see(id, "lease", 100);
	ck_assert_uint_eq(traces.n_used, n);
	ck_assert_uint_eq(traces.lost, 3);
}
END_TEST

START_TEST(a_guard_without_a_place_is_counted_once)
{
	traces_begin(&traces, "", 100);
	traces.n_used = traces.n_places;
	for (uint64_t now = 100; now < 105; now++) {
		trace_begin_scan(web);
		see(7, "lease", now);
		see(3, "process", now);
		trace_end_scan(web, now);
	}
	ck_assert_uint_eq(traces.lost, 2);
}
END_TEST

START_TEST(leases_have_reserved_places)
{
	traces_expect(&traces, 1000);
	ck_assert_uint_ge(traces.n_places, 1000);
	traces_expect(&traces, -1000);
	ck_assert_uint_eq(traces.n_leases, 0);
}
END_TEST

START_TEST(each_node_has_a_place_for_a_process)
{
	struct trace *trace;

	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(trace_new(&trace, &traces, NULL, "x"), 0);
	ck_assert_uint_ge(traces.n_places, 1000);
}
END_TEST

START_TEST(without_a_report_there_are_no_traces)
{
	struct traces other;
	struct trace *trace;

	traces_init(&other);
	ck_assert_int_eq(trace_new(&trace, &other, NULL, "x"), 0);
	ck_assert_ptr_null(trace);
	ck_assert_uint_eq(other.n_places, 0);
	trace_begin(trace, 1, "up", 100);
	trace_state(trace, "stopping", 110);
	trace_touch(trace);
	trace_complete(trace, false, 0, 0, 120);
	trace_guard_end(trace, 1, "revoked");
	ck_assert_ptr_null(trace_free(trace));
	ck_assert_uint_eq(other.lost, 0);
	traces_want(&other, true, false);
	ck_assert_uint_gt(other.n_places, 0);
	ck_assert_int_eq(trace_new(&trace, &other, NULL, "x"), 0);
	ck_assert_ptr_nonnull(trace);
	traces_done(&other);
}
END_TEST

START_TEST(a_node_that_goes_in_the_shutdown_leaves_its_trace)
{
	struct trace *early;

	ck_assert_int_eq(trace_new(&early, &traces, NULL, "early"), 0);
	trace_free(early);
	ck_assert_uint_eq(traces.n, 1);

	traces_begin(&traces, "", 100);
	see(1, "lease", 100);
	trace_touch(web);
	trace_free(web);
	ck_assert_ptr_eq(traces.all.next, &web->in_traces);
	ck_assert(list_is_empty(&traces.touched));
	ck_assert_ptr_null(web->node);
	ck_assert_uint_ne(guard(0)->gone_usec, 0);
}
END_TEST

/* The ended traces are taken off their list, as the history does. */
static unsigned take_ends(void)
{
	struct trace *trace;
	unsigned n = 0;

	list_for_each_taken (trace, &traces.ended, in_ended) {
		trace_end(trace);
		n++;
	}
	return n;
}

START_TEST(with_a_history_each_end_is_listed_once)
{
	trace_begin(web, 1, "up", 100);
	trace_complete(web, false, 0, 0, 120);
	ck_assert_uint_eq(take_ends(), 0);

	traces_want(&traces, true, true);
	trace_begin(web, 2, "up", 200);
	ck_assert(trace_is_ending(web));
	trace_explain(web, "asked");
	trace_complete(web, true, 0, 0, 220);
	ck_assert(!trace_is_ending(web));
	trace_state(web, "up", 230); /* of the next run */
	ck_assert_uint_eq(web->n_states, 1);
	ck_assert_str_eq(web->why, "asked");
	ck_assert_uint_eq(take_ends(), 1);
	ck_assert_uint_eq(take_ends(), 0);
}
END_TEST

START_TEST(with_a_history_the_places_of_guards_are_used_again)
{
	traces_want(&traces, true, true);
	trace_touch(web);
	ck_assert(list_is_empty(&traces.touched));
	for (uint64_t i = 1; i <= 1000; i++) {
		trace_begin(web, 1, "up", 100);
		trace_touch(web);
		ck_assert(!list_is_empty(&traces.touched));
		trace_begin_scan(web);
		see(2 * i, "lease", 100);
		see(2 * i + 1, "lease", 100);
		trace_end_scan(web, 100);
		ck_assert_ptr_nonnull(guard(1));
		traces_expect(&traces, 1); /* no place moves while it is used */
		ck_assert_uint_eq(guard(1)->id, 2 * i + 1);
		trace_complete(web, false, 0, 0, 120);
		ck_assert_uint_eq(take_ends(), 1);
	}
	ck_assert_uint_eq(traces.lost, 0);
	ck_assert_uint_le(traces.n_used, 2);
	traces_expect(&traces, 1);
	ck_assert_uint_ge(traces.n_places, 1000);
}
END_TEST

START_TEST(a_node_that_goes_with_its_end_leaves_its_trace_until_that_is_written)
{
	traces_want(&traces, true, true);
	trace_begin(web, 1, "up", 100);
	trace_complete(web, false, 0, 0, 120);
	trace_free(web);
	ck_assert_uint_eq(traces.n, 1);
	ck_assert_uint_eq(take_ends(), 1);
	ck_assert_uint_eq(traces.n, 0);
}
END_TEST

START_TEST(guards_without_a_place_before_the_shutdown_are_not_counted)
{
	traces.lost = 7;
	traces_begin(&traces, "", 100);
	ck_assert_uint_eq(traces.lost, 0);
}
END_TEST

START_TEST(long_texts_are_cut)
{
	char text[1000];
	struct guard_view view = {
		.id = 1, .kind = "lease", .command = text, .why = text, .count = FIELD_NONE
	};

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	traces_begin(&traces, text, 100);
	trace_scan_guard(web, &view, 100);
	ck_assert_uint_eq(strlen(traces.cause), TRACE_CAUSE_MAX - 1);
	ck_assert_uint_eq(guard(0)->why, TRACE_TEXT_MAX / 2);
	ck_assert_uint_eq(strlen(guard(0)->text + guard(0)->why), TRACE_TEXT_MAX / 2 - 1);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("trace");
	TCase *tc = tcase_create("trace");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, states_are_kept_from_the_stop_on);
	tcase_add_test(tc, states_too_many_are_counted);
	tcase_add_test(tc, only_nodes_touched_after_the_stop_are_looked_at);
	tcase_add_test(tc, guard_ends_at_the_scan_that_misses_it);
	tcase_add_test(tc, guards_without_a_place_are_counted);
	tcase_add_test(tc, a_guard_without_a_place_is_counted_once);
	tcase_add_test(tc, leases_have_reserved_places);
	tcase_add_test(tc, each_node_has_a_place_for_a_process);
	tcase_add_test(tc, without_a_report_there_are_no_traces);
	tcase_add_test(tc, a_node_that_goes_in_the_shutdown_leaves_its_trace);
	tcase_add_test(tc, with_a_history_each_end_is_listed_once);
	tcase_add_test(tc, with_a_history_the_places_of_guards_are_used_again);
	tcase_add_test(tc, a_node_that_goes_with_its_end_leaves_its_trace_until_that_is_written);
	tcase_add_test(tc, guards_without_a_place_before_the_shutdown_are_not_counted);
	tcase_add_test(tc, long_texts_are_cut);
	suite_add_tcase(s, tc);
	return s;
}
