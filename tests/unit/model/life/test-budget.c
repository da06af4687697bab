#include "tests/unit/fixtures/main.h"

#include "base/clock.h"
#include "base/macro.h"
#include "model/life/budget.h"

#define SEC USEC_PER_SEC

START_TEST(a_grace_has_a_margin)
{
	static const uint64_t graces[][2] = {
		{ 90 * SEC, 90 * SEC - 4500 * USEC_PER_MSEC },
		{ 20 * SEC, 19 * SEC },
		{ 10 * SEC, 9 * SEC },
		{ 3 * SEC, 2 * SEC },
		{ 300 * USEC_PER_MSEC, 200 * USEC_PER_MSEC },
		{ USEC_INFINITY, USEC_INFINITY },
	};

	for (size_t i = 0; i < ARRAY_SIZE(graces); i++)
		ck_assert_uint_eq(budget_of_grace(graces[i][0]), graces[i][1]);
}
END_TEST

START_TEST(a_margin_is_never_more_than_a_third)
{
	for (uint64_t grace = 1; grace < USEC_INFINITY / 3; grace *= 3) {
		uint64_t budget = budget_of_grace(grace);

		ck_assert_uint_gt(budget, 0);
		ck_assert_uint_lt(grace < 3 ? 0 : budget, grace);
		ck_assert_uint_le(grace - budget, grace / 3);
	}
}
END_TEST

START_TEST(the_next_step_has_its_time_but_at_most_a_third)
{
	ck_assert_uint_eq(budget_before(100 * SEC, 10 * SEC, 5 * SEC), 95 * SEC);
	ck_assert_uint_eq(budget_before(100 * SEC, 10 * SEC, 50 * SEC), 70 * SEC);
	ck_assert_uint_eq(budget_before(100 * SEC, 10 * SEC, USEC_INFINITY), 70 * SEC);
	ck_assert_uint_eq(budget_before(100 * SEC, 10 * SEC, 0), 100 * SEC);
	ck_assert_uint_eq(budget_before(100 * SEC, 100 * SEC, SEC), 100 * SEC);
	ck_assert_uint_eq(budget_before(100 * SEC, 101 * SEC, SEC), 100 * SEC);
	ck_assert_uint_eq(budget_before(USEC_INFINITY, SEC, SEC), USEC_INFINITY);
}
END_TEST

/* However many follow each other, each has something, and all of them end in time. */
START_TEST(shares_of_shares_are_not_nothing)
{
	uint64_t end = 100 * SEC, now = 99 * SEC;

	for (int i = 0; i < 10; i++) {
		uint64_t before = budget_before(end, now, 10 * SEC);

		ck_assert_uint_lt(before, end);
		ck_assert_uint_gt(before, now);
		end = before;
	}
}
END_TEST

START_TEST(a_later_deadline_needs_less)
{
	ck_assert_uint_eq(budget_needed(20 * SEC, 40 * SEC, 40 * SEC), 20 * SEC);
	ck_assert_uint_eq(budget_needed(20 * SEC, 40 * SEC, 30 * SEC), 20 * SEC);
	ck_assert_uint_eq(budget_needed(20 * SEC, 40 * SEC, 47 * SEC), 13 * SEC);
	ck_assert_uint_eq(budget_needed(20 * SEC, 40 * SEC, 60 * SEC), 0);
	ck_assert_uint_eq(budget_needed(20 * SEC, 40 * SEC, USEC_INFINITY), 0);
	ck_assert_uint_eq(budget_needed(20 * SEC, USEC_INFINITY, USEC_INFINITY), 20 * SEC);
}
END_TEST

static struct stop_times times(uint64_t idle, bool busy)
{
	return (struct stop_times){
		.began_usec = 1000 * SEC,
		.idle_usec = idle ? 1000 * SEC + idle : 0,
		.busy = busy,
		.stop_timeout_usec = 10 * SEC,
		.drain_timeout_usec = 300 * SEC,
	};
}

static uint64_t limit(struct stop_times t)
{
	uint64_t usec = budget_stop_limit(&t);

	return usec == USEC_INFINITY ? usec : usec - t.began_usec;
}

START_TEST(idle_has_its_stop_timeout_and_busy_its_drain_timeout)
{
	ck_assert_uint_eq(limit(times(0, false)), 10 * SEC);
	ck_assert_uint_eq(limit(times(0, true)), 300 * SEC);
}
END_TEST

START_TEST(an_idle_service_has_its_stop_timeout_from_then)
{
	ck_assert_uint_eq(limit(times(SEC, false)), 11 * SEC);
	ck_assert_uint_eq(limit(times(299 * SEC, false)), 309 * SEC);
	ck_assert_uint_eq(limit(times(299 * SEC, true)), 309 * SEC);
	ck_assert_uint_eq(limit(times(SEC, true)), 300 * SEC);
}
END_TEST

/* However often it is busy again: both timeouts together are the most there is. */
START_TEST(repeated_busy_times_have_an_end)
{
	for (uint64_t idle = 290 * SEC; idle < 1000 * SEC; idle += 5 * SEC)
		for (int busy = 0; busy < 2; busy++)
			ck_assert_uint_le(limit(times(idle, busy)), 310 * SEC);
}
END_TEST

START_TEST(a_short_drain_timeout_takes_nothing_away)
{
	struct stop_times t = times(0, true);

	t.drain_timeout_usec = 0;
	ck_assert_uint_eq(limit(t), 10 * SEC);
	t = times(SEC, false);
	t.drain_timeout_usec = 0;
	ck_assert_uint_eq(limit(t), 10 * SEC);
}
END_TEST

START_TEST(infinity_stays_infinity)
{
	struct stop_times t = times(0, false);

	t.drain_timeout_usec = USEC_INFINITY;
	ck_assert_uint_eq(limit(t), 10 * SEC);
	t.busy = true;
	ck_assert_uint_eq(limit(t), USEC_INFINITY);
	t.drain_timeout_usec = SEC;
	t.stop_timeout_usec = USEC_INFINITY;
	ck_assert_uint_eq(limit(t), USEC_INFINITY);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("budget");
	TCase *tc = tcase_create("budget");

	tcase_add_test(tc, a_grace_has_a_margin);
	tcase_add_test(tc, a_margin_is_never_more_than_a_third);
	tcase_add_test(tc, the_next_step_has_its_time_but_at_most_a_third);
	tcase_add_test(tc, shares_of_shares_are_not_nothing);
	tcase_add_test(tc, a_later_deadline_needs_less);
	tcase_add_test(tc, idle_has_its_stop_timeout_and_busy_its_drain_timeout);
	tcase_add_test(tc, an_idle_service_has_its_stop_timeout_from_then);
	tcase_add_test(tc, repeated_busy_times_have_an_end);
	tcase_add_test(tc, a_short_drain_timeout_takes_nothing_away);
	tcase_add_test(tc, infinity_stays_infinity);
	suite_add_tcase(s, tc);
	return s;
}
