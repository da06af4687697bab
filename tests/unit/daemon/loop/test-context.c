#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/loop/context.h"
#include "tests/unit/fixtures/nomem.h"

static struct context ctx;
static char one[] = "A=1", two[] = "B=2";
static char *environment[] = { one, two, NULL };

static void setup(void)
{
	static struct log log = { .fd = -1, .level = LOG_EMERG, .name = "test" };
	static struct signals signals;

	ck_assert_int_eq(context_init(&ctx, &log, &signals), 0);
	ctx.environment.given = environment;
}

static void teardown(void)
{
	context_done(&ctx);
}

static int reserve_without_memory(size_t own)
{
	int r;

	allocations_left = 0;
	r = context_reserve_environment(&ctx, own);
	allocations_left = -1; /* check(3) allocates, too */
	return r;
}

START_TEST(room_for_variables_is_made_once)
{
	ck_assert_int_eq(context_reserve_environment(&ctx, 3), 0);
	ck_assert_ptr_nonnull(ctx.environment.child);
	ck_assert_uint_eq(ctx.environment.room, 5);
	ck_assert_int_eq(reserve_without_memory(3), 0);
	ck_assert_int_eq(reserve_without_memory(0), 0);
	ck_assert_uint_eq(ctx.environment.room, 5);
}
END_TEST

START_TEST(room_stays_as_it_was_without_memory)
{
	char **before;

	ck_assert_int_eq(reserve_without_memory(0), -ENOMEM);
	ck_assert_ptr_null(ctx.environment.child);
	ck_assert_int_eq(context_reserve_environment(&ctx, 0), 0);
	before = ctx.environment.child;
	ck_assert_int_eq(reserve_without_memory(1), -ENOMEM);
	ck_assert_ptr_eq(ctx.environment.child, before);
	ck_assert_uint_eq(ctx.environment.room, 2);
}
END_TEST

START_TEST(only_a_lack_of_descriptors_or_memory_is_a_shortage)
{
	static const int shortages[] = { -EMFILE, -ENFILE, -ENOMEM };
	static const int others[] = { 0, 1, -EINVAL, -EACCES, EMFILE };

	for (size_t i = 0; i < ARRAY_SIZE(shortages); i++)
		ck_assert(context_is_shortage(shortages[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert(!context_is_shortage(others[i]));
}
END_TEST

START_TEST(spare_descriptor_is_given_up_once)
{
	int spare = ctx.descriptors.spare;

	ck_assert_int_ge(spare, 0);
	ck_assert(context_give_up_spare(&ctx));
	ck_assert_int_lt(fcntl(spare, F_GETFD), 0);
	ck_assert(!context_give_up_spare(&ctx));
	context_take_spare(&ctx);
	ck_assert_int_eq(fcntl(ctx.descriptors.spare, F_GETFD), FD_CLOEXEC);
}
END_TEST

static int on_input(sd_event_source *source, int fd, uint32_t events, void *arg)
{
	(void)source;
	(void)fd;
	(void)events;
	++*(int *)arg;
	return 0;
}

START_TEST(watched_descriptor_is_closed_with_its_source)
{
	sd_event_source *source = NULL;
	int fds[2], n = 0;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	ck_assert_int_eq(context_watch_owned(&ctx, &source, -ESRCH, EPOLLIN, on_input, &n), -ESRCH);
	ck_assert_ptr_null(source);
	ck_assert_int_eq(context_watch_owned(&ctx, &source, fds[0], EPOLLIN, on_input, &n), 0);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	ck_assert_int_gt(sd_event_run(ctx.event, 0), 0);
	ck_assert_int_eq(n, 1);
	source = sd_event_source_disable_unref(source);
	ck_assert_int_lt(fcntl(fds[0], F_GETFD), 0);
	(void)close(fds[1]);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("context");
	TCase *tc = tcase_create("context");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, room_for_variables_is_made_once);
	tcase_add_test(tc, room_stays_as_it_was_without_memory);
	tcase_add_test(tc, only_a_lack_of_descriptors_or_memory_is_a_shortage);
	tcase_add_test(tc, spare_descriptor_is_given_up_once);
	tcase_add_test(tc, watched_descriptor_is_closed_with_its_source);
	suite_add_tcase(s, tc);
	return s;
}
