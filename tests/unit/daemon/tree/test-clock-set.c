/* Schedules follow the clock when it is set, which the test plays by a timer that expires. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <fcntl.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* As if the clock was set: the timer of the daemon is readable. */
static void set_clock(void)
{
	const struct itimerspec now = { .it_value = { .tv_nsec = 1 } };
	int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);

	ck_assert_int_eq(timerfd_settime(fd, TFD_TIMER_ABSTIME, &now, NULL), 0);
	ck_assert_int_eq(sd_event_source_set_io_fd(ctx.timetables.clock_set, fd), 0);
	ck_assert_int_eq(agenda_is_due(&ctx.agenda), false);
	ck_assert_int_gt(sd_event_run(ctx.event, 10 * SEC), 0);
}

START_TEST(schedules_are_looked_at_whenever_the_clock_is_set)
{
	begin("[job]\ncommand = x\nautostart = no\nschedule = 03:00\n");
	for (int i = 0; i < 3; i++) {
		set_clock();
		ck_assert(agenda_is_due(&ctx.agenda));
		turns();
		expect("job down");
	}
}
END_TEST

START_TEST(timer_that_cannot_be_armed_is_not_looked_at_again)
{
	uint64_t one = 1;
	int fds[2], enabled;

	begin("[job]\ncommand = x\nautostart = no\nschedule = 03:00\n");
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	ck_assert_int_eq(sd_event_source_set_io_fd(ctx.timetables.clock_set, fds[0]), 0);
	ck_assert_int_eq(write(fds[1], &one, sizeof(one)), sizeof(one));
	ck_assert_int_gt(sd_event_run(ctx.event, 10 * SEC), 0);
	ck_assert_int_ge(sd_event_source_get_enabled(ctx.timetables.clock_set, &enabled), 0);
	ck_assert_int_eq(enabled, SD_EVENT_OFF);
	turns();
	(void)close(fds[1]);
}
END_TEST

START_TEST(clock_is_watched_while_there_is_a_schedule)
{
	begin("[job]\ncommand = x\n");
	ck_assert_ptr_null(ctx.timetables.clock_set);
	reload("[job]\ncommand = x\nschedule = 03:00\n");
	ck_assert_ptr_nonnull(ctx.timetables.clock_set);
	reload("[job]\ncommand = x\n");
	ck_assert_ptr_null(ctx.timetables.clock_set);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("clock of schedules");
	TCase *tc = tree_case("clock");

	tcase_add_test(tc, schedules_are_looked_at_whenever_the_clock_is_set);
	tcase_add_test(tc, timer_that_cannot_be_armed_is_not_looked_at_again);
	tcase_add_test(tc, clock_is_watched_while_there_is_a_schedule);
	suite_add_tcase(suite, tc);
	return suite;
}
