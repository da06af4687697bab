/* The effects of messages, the watchdog and checks of health on a service. */
#include "tests/unit/fixtures/daemon/service-world.h"

#include <string.h>
#include <sys/eventfd.h>

#include "daemon/service/health.h"
#include "daemon/service/notify.h"

#define WEB                                                                   \
	"[web]\ncommand = x\nnotify = yes\nready = notify\nrestart = never\n" \
	"start-timeout = 10s\nstop-timeout = 10s\n"

static const struct service_messages *messages(void)
{
	return service("web")->setup.extras->messages;
}

static void begin_up(const char *text)
{
	begin_recorded(text);
	say("web", "READY=1");
	expect("web up");
}

/* --- readiness, texts --- */

START_TEST(ready_message_counts_only_for_ready_notify)
{
	begin_recorded(WEB);
	expect("web starting");
	say("web", "STATUS=warm\nERRNO=5");
	expect("web starting");
	ck_assert_str_eq(messages()->status, "warm");
	ck_assert_int_eq(messages()->error, 5);
	say("web", "READY=1");
	expect("web up");
	finish();
	begin_recorded("[web]\ncommand = x\nnotify = yes\nready = fd:3\n");
	say("web", "READY=1");
	expect("web starting");
}
END_TEST

START_TEST(status_text_is_a_remark)
{
	uint64_t remarks;

	begin_up(WEB);
	remarks = ctx.remarks;
	say("web", "STATUS=busy");
	ck_assert_uint_gt(ctx.remarks, remarks);
}
END_TEST

START_TEST(messages_of_a_run_are_forgotten_with_the_next)
{
	begin_up(WEB);
	say("web", "STATUS=old\nERRNO=7\nSTOPPING=1");
	ck_assert(messages()->stopping);
	expect("web cleaning");
	ends("web", 0);
	ck_assert_str_eq(messages()->status, "old");
	ck_assert_int_eq(start("web"), 0);
	ck_assert_str_eq(messages()->status, "");
	ck_assert_int_eq(messages()->error, 0);
	ck_assert(!messages()->stopping);
}
END_TEST

START_TEST(reload_lasts_until_the_service_is_ready_again)
{
	char text[64];
	uint64_t now;

	begin_up(WEB);
	say("web", "RELOADING=1");
	ck_assert_uint_gt(messages()->reloading_usec, 0);
	expect("web up");
	say("web", "READY=1");
	ck_assert_uint_eq(messages()->reloading_usec, 0);
	now = clock_now_usec();
	(void)snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%ju",
		       (uintmax_t)now - 1000);
	say("web", text);
	ck_assert_uint_eq(messages()->reloading_usec, now - 1000);
	(void)snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%ju", (uintmax_t)now + SEC);
	say("web", text);
	ck_assert_uint_lt(messages()->reloading_usec, now + SEC);
	say("web", "STOPPING=1");
	ck_assert_uint_eq(messages()->reloading_usec, 0);
}
END_TEST

/* --- extensions --- */

START_TEST(start_is_extended_up_to_ten_timeouts)
{
	begin_recorded(WEB);
	expect_left("web", 10 * SEC);
	say("web", "EXTEND_TIMEOUT_USEC=5000000");
	expect_left("web", 10 * SEC);
	say("web", "EXTEND_TIMEOUT_USEC=60000000");
	expect_left("web", 60 * SEC);
	pass(50 * SEC);
	say("web", "EXTEND_TIMEOUT_USEC=60000000");
	expect_left("web", 50 * SEC);
	say("web", "EXTEND_TIMEOUT_USEC=90000000");
	expect_left("web", 50 * SEC);
	pass(50 * SEC);
	expect("web cleaning");
}
END_TEST

START_TEST(start_without_a_timeout_gets_none_by_an_extension)
{
	begin_recorded(
		"[web]\ncommand = x\nnotify = yes\nready = notify\nstart-timeout = infinity\n");
	say("web", "EXTEND_TIMEOUT_USEC=5000000");
	expect_left("web", USEC_INFINITY);
}
END_TEST

START_TEST(end_of_its_own_is_extended_up_to_ten_timeouts)
{
	begin_up(WEB);
	say("web", "EXTEND_TIMEOUT_USEC=60000000");
	expect_left("web", USEC_INFINITY);
	say("web", "STOPPING=1");
	expect_left("web", 10 * SEC);
	say("web", "EXTEND_TIMEOUT_USEC=60000000");
	expect_left("web", 60 * SEC);
	say("web", "EXTEND_TIMEOUT_USEC=600000000");
	expect_left("web", 100 * SEC);
}
END_TEST

START_TEST(stop_is_extended_within_its_budget)
{
	begin_up("[swansong]\nshutdown-timeout = 200s\n" WEB);
	stop("root");
	expect_left("web", 10 * SEC);
	say("web", "EXTEND_TIMEOUT_USEC=150000000");
	expect_left("web", 150 * SEC);
	say("web", "EXTEND_TIMEOUT_USEC=900000000");
	expect_left("web", 200 * SEC);
}
END_TEST

/* --- the watchdog --- */

#define DOG WEB "watchdog = 5s\n"

START_TEST(watchdog_begins_when_the_service_is_up)
{
	begin_recorded(DOG);
	pass(6 * SEC);
	expect("web starting");
	say("web", "READY=1");
	pass(4 * SEC);
	say("web", "WATCHDOG=1");
	pass(4 * SEC);
	expect("web up");
	pass(2 * SEC);
	expect("web cleaning");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_WATCHDOG);
	ends("web", 0);
	expect("web failed");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_WATCHDOG);
}
END_TEST

START_TEST(message_that_waits_keeps_a_late_watchdog_alive)
{
	begin_up(DOG);
	waiting_message = "WATCHDOG=1";
	pass(5 * SEC);
	expect("web up");
	ck_assert_ptr_null(waiting_message);
	pass(4 * SEC);
	expect("web up");
	pass(2 * SEC);
	expect("web cleaning");
}
END_TEST

START_TEST(end_that_waits_in_the_socket_comes_before_the_watchdog)
{
	begin_up(DOG);
	waiting_message = "STOPPING=1\nWATCHDOG=1";
	pass(5 * SEC);
	expect("web cleaning");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_NONE);
}
END_TEST

START_TEST(interval_of_the_service_lasts_for_one_run)
{
	begin_up(DOG);
	say("web", "WATCHDOG_USEC=1000000");
	pass(SEC);
	expect("web cleaning");
	ends("web", 0);
	ck_assert_int_eq(start("web"), 0);
	say("web", "READY=1");
	pass(4 * SEC);
	expect("web up");
}
END_TEST

START_TEST(watchdog_ends_with_the_stop)
{
	begin_up(DOG);
	stop("web");
	pass(6 * SEC);
	expect("web stopping");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_NONE);
}
END_TEST

START_TEST(service_reports_its_own_failure)
{
	begin_recorded(WEB);
	say("web", "WATCHDOG=trigger");
	expect("web cleaning");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_WATCHDOG);
	finish();
	begin_up(WEB);
	stop("web");
	say("web", "WATCHDOG=trigger");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_NONE);
}
END_TEST

/* --- descriptors --- */

static size_t stored(void)
{
	return activation_fdstore(service("web")->setup.launch.activation)->n;
}

START_TEST(stored_descriptors_are_kept_for_the_next_run_only)
{
	begin_up(WEB "fd-store-max = 2\n");
	say_with("web", "FDSTORE=1\nFDNAME=a", eventfd(0, EFD_CLOEXEC));
	say_with("web", "FDSTORE=1\nFDNAME=b", eventfd(0, EFD_CLOEXEC));
	ck_assert_uint_eq(stored(), 2);
	ck_assert_uint_eq(messages()->refused, 0);
	say_with("web", "FDSTORE=1\nFDNAME=c", eventfd(0, EFD_CLOEXEC));
	ck_assert_uint_eq(stored(), 2);
	ck_assert_uint_eq(messages()->refused, 1);
	say("web", "FDSTOREREMOVE=1");
	ck_assert_uint_eq(stored(), 2);
	say("web", "FDSTOREREMOVE=1\nFDNAME=a");
	ck_assert_uint_eq(stored(), 1);
	ck_assert_int_eq(restart("web"), 0);
	ends("web", 0);
	expect("web starting");
	ck_assert_uint_eq(stored(), 1);
	say("web", "READY=1");
	stop("web");
	ends("web", 0);
	expect("web down");
	ck_assert_uint_eq(stored(), 0);
}
END_TEST

START_TEST(failed_service_keeps_no_descriptors)
{
	begin_up(WEB "fd-store-max = 2\n");
	say_with("web", "FDSTORE=1", eventfd(0, EFD_CLOEXEC));
	ends("web", 1);
	expect("web failed");
	ck_assert_uint_eq(stored(), 0);
	say_with("web", "FDSTORE=1", eventfd(0, EFD_CLOEXEC));
	ck_assert_uint_eq(stored(), 0);
	ck_assert_uint_eq(messages()->refused, 1);
}
END_TEST

START_TEST(service_without_a_store_is_refused)
{
	begin_up(WEB "fd-store-max = 0\n");
	say_with("web", "FDSTORE=1", eventfd(0, EFD_CLOEXEC));
	ck_assert_uint_eq(messages()->refused, 1);
	say("web", "FDSTOREREMOVE=1\nFDNAME=a");
}
END_TEST

START_TEST(guard_needs_a_name_and_one_descriptor)
{
	int fds[2];

	begin_up(WEB);
	say("web", "X_SWANSONG_GUARD=job");
	ck_assert_uint_eq(messages()->refused, 1);
	say_with("web", "X_SWANSONG_GUARD=", eventfd(0, EFD_CLOEXEC));
	ck_assert_uint_eq(messages()->refused, 2);
	ck_assert_int_eq(pipe(fds), 0);
	say_with("web", "FDSTORE=1\nX_SWANSONG_GUARD=job", fds[0]);
	ck_assert_uint_gt(messages()->refused, 2);
	ck_assert(list_is_empty(&find("web")->leases));
	ck_assert_int_eq(pipe(fds), 0);
	say_with("web", "X_SWANSONG_GUARD=job", fds[0]);
	ck_assert(!list_is_empty(&find("web")->leases));
}
END_TEST

START_TEST(unknown_main_process_is_refused)
{
	pid_t pid;

	begin_up(WEB);
	pid = service("web")->main.pid;
	say("web", "MAINPID=1");
	ck_assert_uint_eq(messages()->refused, 1);
	ck_assert_int_eq(service("web")->main.pid, pid);
}
END_TEST

/* --- health --- */

#define HEALTH                                                                         \
	"[web]\ncommand = x\nnotify = yes\nready = notify\nhealth = tcp:127.0.0.1:1\n" \
	"health-interval = 10s\nhealth-retries = 2\nrestart = never\n"

static const struct health *health(void)
{
	return service("web")->setup.extras->health;
}

START_TEST(health_is_checked_while_the_service_is_up)
{
	begin_recorded(HEALTH);
	pass(20 * SEC);
	ck_assert(!is_checking());
	say("web", "READY=1");
	pass(1);
	ck_assert(is_checking());
	ck_assert_str_eq(health_state_name(health()->state), "unknown");
	checked(NULL);
	ck_assert_str_eq(health_state_name(health()->state), "healthy");
	pass(10 * SEC - 10000);
	ck_assert(!is_checking());
	pass(10000);
	ck_assert(is_checking());
	stop("web");
	ck_assert(!is_checking());
	pass(10 * SEC);
	ck_assert(!is_checking());
}
END_TEST

static void begin_unhealthy(const char *text)
{
	begin_up(text);
	pass(1);
	checked("refused");
	ck_assert_int_eq(health()->state, HEALTH_UNKNOWN);
	ck_assert_uint_eq(health()->failures, 1);
	expect("web up");
	pass(10 * SEC);
	checked("refused again");
	ck_assert_str_eq(health_state_name(health()->state), "unhealthy");
	ck_assert_str_eq(health()->why, "refused again");
}

START_TEST(unhealthy_service_is_restarted)
{
	begin_unhealthy(HEALTH "on-unhealthy = restart\n");
	expect("web cleaning");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_UNHEALTHY);
	ck_assert(!health()->on);
	pass(SEC);
	ends("web", 0);
	expect("web failed");
	ck_assert_int_eq(start("web"), 0);
	say("web", "READY=1");
	ck_assert_int_eq(health()->state, HEALTH_UNKNOWN);
	ck_assert_uint_eq(health()->failures, 0);
	ck_assert_str_eq(health()->why, "");
}
END_TEST

START_TEST(unhealthy_service_shuts_the_tree_down)
{
	begin_unhealthy(HEALTH "on-unhealthy = shutdown\n[other]\ncommand = x\n");
	expect("web stopping, other stopping");
	ck_assert(find("root")->stop_usec);
}
END_TEST

START_TEST(unhealthy_service_is_logged_and_checked_on)
{
	uint64_t remarks;

	begin_unhealthy(HEALTH "on-unhealthy = log\n");
	expect("web up");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_NONE);
	remarks = ctx.remarks;
	pass(10 * SEC);
	checked(NULL);
	ck_assert_int_eq(health()->state, HEALTH_HEALTHY);
	ck_assert_uint_eq(health()->failures, 0);
	ck_assert_uint_eq(ctx.remarks, remarks + 1);
	pass(10 * SEC);
	checked("refused");
	ck_assert_int_eq(health()->state, HEALTH_HEALTHY);
}
END_TEST

START_TEST(service_that_reloads_is_not_checked)
{
	begin_up(HEALTH);
	pass(1);
	say("web", "RELOADING=1");
	checked("refused");
	ck_assert_uint_eq(health()->failures, 0);
	pass(10 * SEC);
	ck_assert(!is_checking());
	say("web", "READY=1");
	pass(10 * SEC);
	ck_assert(is_checking());
}
END_TEST

static TCase *watchdogs(void)
{
	TCase *tc = tree_case("watchdog");

	tcase_add_test(tc, watchdog_begins_when_the_service_is_up);
	tcase_add_test(tc, message_that_waits_keeps_a_late_watchdog_alive);
	tcase_add_test(tc, end_that_waits_in_the_socket_comes_before_the_watchdog);
	tcase_add_test(tc, interval_of_the_service_lasts_for_one_run);
	tcase_add_test(tc, watchdog_ends_with_the_stop);
	tcase_add_test(tc, service_reports_its_own_failure);
	tcase_add_test(tc, stored_descriptors_are_kept_for_the_next_run_only);
	tcase_add_test(tc, failed_service_keeps_no_descriptors);
	tcase_add_test(tc, service_without_a_store_is_refused);
	tcase_add_test(tc, guard_needs_a_name_and_one_descriptor);
	tcase_add_test(tc, unknown_main_process_is_refused);
	return tc;
}

static TCase *checks(void)
{
	TCase *tc = tree_case("health");

	tcase_add_test(tc, health_is_checked_while_the_service_is_up);
	tcase_add_test(tc, unhealthy_service_is_restarted);
	tcase_add_test(tc, unhealthy_service_shuts_the_tree_down);
	tcase_add_test(tc, unhealthy_service_is_logged_and_checked_on);
	tcase_add_test(tc, service_that_reloads_is_not_checked);
	return tc;
}

Suite *test_suite(void)
{
	Suite *s = suite_create("messages");
	TCase *tc = tree_case("messages");

	tcase_add_test(tc, ready_message_counts_only_for_ready_notify);
	tcase_add_test(tc, status_text_is_a_remark);
	tcase_add_test(tc, messages_of_a_run_are_forgotten_with_the_next);
	tcase_add_test(tc, reload_lasts_until_the_service_is_ready_again);
	tcase_add_test(tc, start_is_extended_up_to_ten_timeouts);
	tcase_add_test(tc, start_without_a_timeout_gets_none_by_an_extension);
	tcase_add_test(tc, end_of_its_own_is_extended_up_to_ten_timeouts);
	tcase_add_test(tc, stop_is_extended_within_its_budget);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, watchdogs());
	suite_add_tcase(s, checks());
	return s;
}
