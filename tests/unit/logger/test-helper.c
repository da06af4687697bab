/* A helper process without a logger. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "logger/file/helper.h"
#include "tests/unit/fixtures/scratch.h"

static int store;
static struct area area;
static struct helper *helper;

static void setup(void)
{
	make_directory();
	store = store_new();
	ck_assert_int_ge(store, 0);
	ck_assert_int_eq(area_open(&area, store), 0);
	ck_assert_int_eq(helper_new(&helper, &area, "key", -1), 0);
}

static void teardown(void)
{
	helper_free(helper);
	area_close(&area);
	(void)close(store);
	remove_directory();
}

static enum helper_event next_event(int *result)
{
	struct pollfd p = { .fd = helper->socket, .events = POLLIN };

	ck_assert_int_eq(poll(&p, 1, 30000), 1);
	return helper_receive(helper, result);
}

START_TEST(helper_starts_regardless_of_earlier_errors)
{
	static const int errors[] = { EINTR, EAGAIN, EIO, 0 };
	int result;

	errno = errors[_i];
	ck_assert_int_eq(helper_start(helper), 0);
	ck_assert_int_eq(next_event(&result), HELPER_READY);
	ck_assert(helper->ready && !helper->busy);
	ck_assert_int_eq(helper_receive(helper, &result), HELPER_NOTHING);
}
END_TEST

START_TEST(second_helper_of_a_key_is_ready_after_the_first)
{
	struct helper *first = helper;
	int result;

	ck_assert_int_eq(helper_start(first), 0);
	ck_assert_int_eq(next_event(&result), HELPER_READY);
	ck_assert_int_eq(helper_new(&helper, &area, "key", -1), 0);
	ck_assert_int_eq(helper_start(helper), 0);
	ck_assert_int_eq(helper_receive(helper, &result), HELPER_NOTHING);
	helper_free(first);
	ck_assert_int_eq(next_event(&result), HELPER_READY);
}
END_TEST

START_TEST(helper_that_ends_is_dead_and_starts_again)
{
	int result;

	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(helper_start(helper), 0);
		ck_assert_int_eq(next_event(&result), HELPER_READY);
		/* It ends with its socket. */
		ck_assert_int_eq(shutdown(helper->socket, SHUT_WR), 0);
		ck_assert_int_eq(next_event(&result), HELPER_DEAD);
		ck_assert_int_eq(helper->socket, -1);
		ck_assert(!helper->ready && !helper->busy);
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("helper of the logger");
	TCase *t = tcase_create("helper");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, helper_starts_regardless_of_earlier_errors, 0, 4);
	tcase_add_test(t, second_helper_of_a_key_is_ready_after_the_first);
	tcase_add_test(t, helper_that_ends_is_dead_and_starts_again);
	suite_add_tcase(suite, t);
	return suite;
}
