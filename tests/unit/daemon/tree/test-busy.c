/* The timeout of an ending while the service is busy, and from when on it counts. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include "base/macro.h"
#include "daemon/service/timeout.h"

static const char web[] = "[swansong]\nshutdown-timeout = infinity\nstop-timeout = 10s\n"
			  "[web]\ncommand = x\n[web/jobs]\n[web/own]\ncommand = x\n[other]\n";

START_TEST(idle_service_has_its_stop_timeout)
{
	struct lease *above, *beside, *of_another;

	begin(web);
	above = hold("root");
	beside = hold("other");
	of_another = hold("web/own");
	stop("web");
	expect_left("web", 10 * SEC);
	expect_left("web/own", 300 * SEC);
	release(above);
	release(beside);
	release(of_another);
}
END_TEST

static const char *const where[] = { "web", "web/jobs" };

START_TEST(busy_service_has_its_drain_timeout)
{
	struct lease *lease;

	begin(web);
	lease = hold(where[_i]);
	stop("web");
	expect_left("web", 300 * SEC);
	expect_left("web/own", 10 * SEC);
	release(lease);
	expect_left("web", 10 * SEC);
}
END_TEST

START_TEST(service_that_becomes_idle_has_all_of_its_stop_timeout)
{
	struct lease *one, *two;

	begin(web);
	one = hold("web");
	two = hold("web/jobs");
	stop("web");
	pass(100 * SEC);
	release(one);
	expect_left("web", 200 * SEC);
	release(two);
	expect_left("web", 10 * SEC);
}
END_TEST

START_TEST(service_that_becomes_busy_late_has_its_drain_timeout_from_the_signal)
{
	struct lease *lease;

	begin(web);
	stop("web");
	pass(5 * SEC);
	lease = hold("web");
	expect_left("web", 295 * SEC);
	release(lease);
}
END_TEST

START_TEST(guard_of_an_earlier_generation_keeps_no_service_busy)
{
	struct lease *lease;

	begin(web);
	lease = hold("web");
	stop("web");
	end_asked();
	ck_assert_int_eq(start("web"), 0);
	expect("web up, web/own up");
	stop("web");
	expect_left("web", 10 * SEC);
	release(lease);
}
END_TEST

START_TEST(failed_service_gets_no_drain_timeout)
{
	struct lease *lease;

	begin("[web]\ncommand = x\nnotify = yes\nwatchdog = 5s\n");
	lease = hold("web");
	pass(5 * SEC);
	expect("web cleaning");
	expect_left("web", 10 * SEC);
	release(lease);
}
END_TEST

START_TEST(service_that_ends_by_itself_gets_its_drain_timeout)
{
	struct lease *lease;

	begin(web);
	lease = hold("web");
	service_post(service("web"), EVENT_ENDING);
	turns();
	expect("web cleaning");
	expect_left("web", 300 * SEC);
	release(lease);
	expect_left("web", 10 * SEC);
}
END_TEST

START_TEST(remaining_processes_get_no_drain_timeout)
{
	struct lease *lease;

	begin(web);
	adopt("web");
	lease = hold("web");
	stop("web");
	ends("web", 0);
	expect("web stopping");
	expect_left("web", 10 * SEC);
	pass(5 * SEC);
	service_check_exits(service("web"));
	turns();
	expect_left("web", 5 * SEC);
	release(lease);
}
END_TEST

START_TEST(only_a_later_extension_applies)
{
	struct lease *lease;
	uint64_t now;

	begin(web);
	lease = hold("web");
	stop("web");
	now = clock_now_usec();
	service_extend(service("web"), now + 60 * SEC);
	expect_left("web", 300 * SEC);
	release(lease);
	expect_left("web", 60 * SEC);
	service_extend(service("web"), now + 30 * SEC);
	expect_left("web", 60 * SEC);
}
END_TEST

START_TEST(stop_of_a_oneshot_begins_an_ending_of_its_own)
{
	pid_t pid;

	begin("[once]\ncommand = x\ntype = oneshot\nstop-command = x\nstop-timeout = 10s\n");
	pid = adopt("once");
	ends("once", 0);
	expect("once cleaning");
	expect_left("once", 10 * SEC);
	pass(5 * SEC);
	remaining_ends("once", pid);
	turns();
	expect("once up");
	stop("once");
	expect("once asking");
	expect_left("once", 10 * SEC);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("busy");
	TCase *tc = tree_case("busy");

	tcase_add_test(tc, idle_service_has_its_stop_timeout);
	tcase_add_loop_test(tc, busy_service_has_its_drain_timeout, 0, ARRAY_SIZE(where));
	tcase_add_test(tc, service_that_becomes_idle_has_all_of_its_stop_timeout);
	tcase_add_test(tc, service_that_becomes_busy_late_has_its_drain_timeout_from_the_signal);
	tcase_add_test(tc, guard_of_an_earlier_generation_keeps_no_service_busy);
	tcase_add_test(tc, failed_service_gets_no_drain_timeout);
	tcase_add_test(tc, service_that_ends_by_itself_gets_its_drain_timeout);
	tcase_add_test(tc, remaining_processes_get_no_drain_timeout);
	tcase_add_test(tc, only_a_later_extension_applies);
	tcase_add_test(tc, stop_of_a_oneshot_begins_an_ending_of_its_own);
	suite_add_tcase(s, tc);
	return s;
}
