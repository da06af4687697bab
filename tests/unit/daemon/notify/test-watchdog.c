#include "daemon/notify/watchdog.h"
#include "tests/unit/fixtures/daemon/tree-world.h"

static struct watchdog watchdog;
static unsigned expiries;

static void on_expired(void *arg)
{
	ck_assert_ptr_eq(arg, &tree);
	expiries++;
}

static void setup(void)
{
	begin("");
	expiries = 0;
	watchdog_init(&watchdog, &ctx, on_expired, &tree);
}

static void teardown(void)
{
	watchdog_done(&watchdog);
	finish();
}

START_TEST(each_message_begins_an_interval)
{
	watchdog_set(&watchdog, 10 * SEC);
	watchdog_start(&watchdog);
	for (int i = 0; i < 3; i++) {
		pass(9 * SEC);
		ck_assert_uint_eq(expiries, 0);
		watchdog_ping(&watchdog);
	}
	pass(10 * SEC);
	ck_assert_uint_eq(expiries, 1);
}
END_TEST

START_TEST(it_expires_once_for_each_start)
{
	watchdog_set(&watchdog, SEC);
	watchdog_start(&watchdog);
	pass(10 * SEC);
	pass(10 * SEC);
	ck_assert_uint_eq(expiries, 1);
	watchdog_start(&watchdog);
	pass(2 * SEC);
	ck_assert_uint_eq(expiries, 2);
}
END_TEST

START_TEST(it_does_not_expire_while_it_is_off)
{
	watchdog_set(&watchdog, SEC);
	pass(5 * SEC);
	watchdog_start(&watchdog);
	watchdog_stop(&watchdog);
	pass(5 * SEC);
	watchdog_start(&watchdog);
	watchdog_set(&watchdog, 0);
	pass(5 * SEC);
	watchdog_set(&watchdog, USEC_INFINITY);
	pass(5 * SEC);
	ck_assert_uint_eq(expiries, 0);
}
END_TEST

START_TEST(time_left_is_that_until_the_end_of_the_interval)
{
	uint64_t last;

	ck_assert_uint_eq(watchdog_left(&watchdog, 0), USEC_INFINITY);
	watchdog_set(&watchdog, 10 * SEC);
	ck_assert_uint_eq(watchdog_left(&watchdog, 0), USEC_INFINITY);
	watchdog_start(&watchdog);
	last = watchdog.last_usec;
	ck_assert_uint_eq(watchdog_left(&watchdog, last), 10 * SEC);
	ck_assert_uint_eq(watchdog_left(&watchdog, last + 4 * SEC), 6 * SEC);
	ck_assert_uint_eq(watchdog_left(&watchdog, last + 10 * SEC - 1), 1);
	ck_assert_uint_eq(watchdog_left(&watchdog, last + 10 * SEC), 0);
	ck_assert_uint_eq(watchdog_left(&watchdog, last + 11 * SEC), 0);
	watchdog_stop(&watchdog);
	ck_assert_uint_eq(watchdog_left(&watchdog, last), USEC_INFINITY);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("watchdog");
	TCase *tc = tcase_create("watchdog");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_message_begins_an_interval);
	tcase_add_test(tc, it_expires_once_for_each_start);
	tcase_add_test(tc, it_does_not_expire_while_it_is_off);
	tcase_add_test(tc, time_left_is_that_until_the_end_of_the_interval);
	suite_add_tcase(s, tc);
	return s;
}
