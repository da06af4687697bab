/* Which processes of a service get which signal, and when they are killed. */
#include "tests/unit/fixtures/daemon/service-world.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/loop/forced-kills.h"
#include "daemon/reap/exit.h"
#include "daemon/service/signal.h"

#define WEB "[web]\ncommand = x\nstop-timeout = 10s\n"

static void expect_signals(const char *expected)
{
	ck_assert_str_eq(signals_sent(), expected);
}

/* A process in a group of its own, or in that of the main process. */
static pid_t adopt_in(const char *path, bool own)
{
	pid_t pid = adopt(path);
	struct process *p = process_find(&processes, pid);

	if (!own)
		p->group = service(path)->main.group;
	return pid;
}

static const char *last_kill(void)
{
	static struct forced_kill kill;

	return forced_kills_get(ctx.forced_kills, 0, &kill) ? kill.what : "";
}

/* --- the stop signal --- */

static const struct {
	const char *key, *expected;
} scopes[] = {
	{ "signal-scope = group\n", "web*:TERM web*:CONT left:TERM " },
	{ "signal-scope = main\n", "web:TERM web:CONT " },
	{ "signal-scope = all\n", "web*:TERM left:TERM web*:CONT left:CONT " },
};

START_TEST(stop_signal_reaches_the_processes_of_its_scope)
{
	char text[128];

	(void)snprintf(text, sizeof(text), WEB "%s", scopes[_i].key);
	begin_recorded(text);
	adopt_in("web", false);
	adopt_in("web", true);
	(void)signals_sent();
	stop("web");
	expect("web stopping");
	expect_signals(scopes[_i].expected);
}
END_TEST

START_TEST(stop_signal_is_sent_once_to_each_process)
{
	begin_recorded(WEB);
	adopt("web");
	stop("web");
	expect_signals("web*:TERM web*:CONT left:TERM ");
	service_term(service("web"));
	expect_signals("");
	adopt("web");
	service_term(service("web"));
	expect_signals("left:TERM ");
	ends("web", 0);
	expect_signals("");
	expect("web stopping");
}
END_TEST

START_TEST(remaining_processes_are_signalled_after_the_end_of_a_main_process_with_scope_main)
{
	begin_recorded(WEB "signal-scope = main\n");
	adopt("web");
	stop("web");
	expect_signals("web:TERM web:CONT ");
	ends("web", 0);
	service_term(service("web"));
	expect_signals("left:TERM ");
}
END_TEST

START_TEST(suspended_remaining_process_is_resumed)
{
	begin_recorded(WEB);
	adopt("web");
	suspended = true;
	stop("web");
	expect_signals("web*:TERM web*:CONT left:TERM left:CONT ");
}
END_TEST

START_TEST(stop_signal_is_that_of_the_configuration)
{
	begin_recorded(WEB "stop-signal = QUIT\n");
	stop("web");
	expect_signals("web*:QUIT web*:CONT ");
}
END_TEST

START_TEST(service_that_hangs_gets_its_watchdog_signal)
{
	begin_recorded(WEB "notify = yes\nwatchdog = 5s\nwatchdog-signal = ABRT\n");
	pass(5 * SEC);
	expect("web cleaning");
	expect_signals("web*:ABRT web*:CONT ");
}
END_TEST

START_TEST(process_of_the_group_that_was_signalled_is_not_signalled_again)
{
	begin_recorded(WEB);
	ck_assert(!service_has_signalled(service("web"), service("web")->main.group));
	stop("web");
	ck_assert(service_has_signalled(service("web"), service("web")->main.group));
	ck_assert(!service_has_signalled(service("web"), service("web")->main.group + 1));
	finish();
	begin_recorded(WEB "signal-scope = main\n");
	stop("web");
	ck_assert(!service_has_signalled(service("web"), service("web")->main.group));
}
END_TEST

static uint64_t age_usec;

int __wrap_proc_age(pid_t pid, uint64_t *ret_usec);
int __wrap_proc_age(pid_t pid, uint64_t *ret_usec)
{
	(void)pid;
	*ret_usec = age_usec;
	return 0;
}

static void adopt_of_group(const char *path, uint64_t age)
{
	static pid_t last_pid = 5000;

	age_usec = age;
	ck_assert_int_eq(service_adopt(service(path), ++last_pid, service(path)->main.group, "left"), 0);
	turns();
}

/* The signal that swansongd passes on to its command comes before the stop of the service. */
START_TEST(process_that_is_younger_than_the_signal_of_its_group_gets_one)
{
	begin_recorded(WEB);
	service("web")->main.signalled_usec = clock_now_usec();
	pass(2 * SEC);
	stop("web");
	pass(SEC);
	expect_signals("");
	adopt_of_group("web", 4 * SEC);
	adopt_of_group("web", SEC + 1);
	ends("web", 0);
	expect_signals("left:TERM ");
}
END_TEST

START_TEST(group_is_known_while_its_number_is_no_pid)
{
	pid_t pid;

	begin_recorded(WEB);
	pid = service("web")->main.pid;
	adopt("web");
	stop("web");
	keep_group(pid, 0);
	end_process(service("web"), 0);
	ck_assert(service_has_group(service("web")));
	keep_group(pid, pid);
	ck_assert(!service_has_group(service("web")));
	keep_group(0, 0);
	ck_assert(!service_has_group(service("web")));
	ck_assert(service_has_any(service("web")));
	turns();
}
END_TEST

START_TEST(group_without_its_leader_is_killed)
{
	pid_t pid;

	begin_recorded(WEB);
	pid = service("web")->main.pid;
	stop("web");
	keep_group(pid, 0);
	ends("web", 0);
	expect("web stopping");
	(void)signals_sent();
	pass(10 * SEC);
	ck_assert_ptr_nonnull(strstr(signals_sent(), "group*:KILL "));
	ck_assert_ptr_nonnull(strstr(last_kill(), "killed process group "));
	ck_assert_ptr_nonnull(strstr(last_kill(), " after the stop"));
	keep_group(0, 0);
	pass(SEC);
	expect("web down");
}
END_TEST

/* --- signals of operators --- */

START_TEST(signal_of_an_operator_reaches_its_scope)
{
	struct service *s;

	begin_recorded(WEB);
	s = service("web");
	adopt_in("web", false);
	adopt_in("web", true);
	service_send(s, SIGHUP, SIGNAL_SCOPE_MAIN);
	expect_signals("web:HUP ");
	service_send(s, SIGHUP, SIGNAL_SCOPE_GROUP);
	expect_signals("web*:HUP ");
	service_send(s, SIGHUP, SIGNAL_SCOPE_ALL);
	expect_signals("web*:HUP left:HUP ");
}
END_TEST

/* --- kills --- */

START_TEST(service_that_ignores_the_stop_signal_is_killed)
{
	char expected[128];

	begin_recorded(WEB);
	adopt("web");
	stop("web");
	(void)signals_sent();
	pass(10 * SEC - 10000);
	expect_signals("");
	pass(10000);
	expect("web killing");
	expect_signals("web*:KILL left:KILL ");
	ck_assert(find("web")->forced);
	(void)snprintf(expected, sizeof(expected),
		       "killed remaining pid %d (leftover), 10.0s after the stop",
		       (int)service("web")->main.pid + 1);
	ck_assert_str_eq(last_kill(), expected);
	pass(SEC);
	expect_signals("web*:KILL left:KILL ");
}
END_TEST

START_TEST(kill_signal_comes_once_before_sigkill)
{
	begin_recorded(WEB "kill-signal = ABRT\n");
	adopt("web");
	stop("web");
	(void)signals_sent();
	pass(10 * SEC);
	expect_signals("web*:ABRT left:ABRT ");
	pass(SEC);
	expect_signals("web*:KILL left:KILL ");
	ends("web", 0);
	expect_signals("left:KILL ");
}
END_TEST

START_TEST(kill_of_a_service_that_ends_by_itself_is_no_forced_stop)
{
	begin_recorded(WEB);
	adopt("web");
	ends("web", 0);
	expect("web cleaning");
	expect_signals("left:TERM ");
	pass(10 * SEC);
	expect_signals("left:KILL ");
	ck_assert(!find("web")->forced);
	ck_assert_str_eq(last_kill(), "");
}
END_TEST

START_TEST(start_command_is_ended_and_killed_with_its_service)
{
	begin_recorded(WEB "start-command = prepare\n");
	expect("web preparing");
	stop("web");
	expect("web stopping");
	expect_signals("hook*:TERM hook*:CONT ");
	service_term(service("web"));
	expect_signals("");
	pass(10 * SEC);
	expect_signals("hook*:KILL ");
	ck_assert_ptr_nonnull(strstr(last_kill(), "killed start-command, pid "));
	hook_ends("web", 9);
	expect("web down");
}
END_TEST

/* --- kept processes --- */

#define KEEP                                                                   \
	"[g]\n[g/web]\ncommand = x\nkill-leftovers = no\nstop-timeout = 10s\n" \
	"kill-signal = ABRT\n"

START_TEST(kept_process_outlives_the_stop_of_its_service)
{
	pid_t pid;

	begin_recorded(KEEP);
	pid = adopt("g/web");
	stop("g");
	expect_signals("g/web*:TERM g/web*:CONT ");
	ends("g/web", 0);
	expect("g/web down");
	ck_assert(find("g")->complete);
	pass(100 * SEC);
	expect_signals("");
	ck_assert_uint_eq(swansong_guard_count(find("root")->handle), 1);
	remaining_ends("g/web", pid);
	turns();
	ck_assert_uint_eq(swansong_guard_count(find("root")->handle), 0);
}
END_TEST

START_TEST(kept_process_ends_with_the_root)
{
	begin_recorded(KEEP);
	adopt("g/web");
	stop("g");
	ends("g/web", 0);
	(void)signals_sent();
	stop("root");
	expect_signals("left:TERM ");
	ck_assert(!find("root")->complete);
	pass(10 * SEC - 10000);
	expect_signals("");
	pass(10000);
	expect_signals("left:ABRT ");
	ck_assert_ptr_nonnull(strstr(last_kill(), "killed remaining pid "));
	ck_assert(find("root")->forced);
	pass(SEC - 10000);
	expect_signals("");
	pass(10000);
	expect_signals("left:KILL ");
	pass(SEC);
	expect_signals("left:KILL ");
}
END_TEST

START_TEST(kept_process_found_after_the_stop_of_the_root_is_stopped_too)
{
	begin_recorded(KEEP "[slow]\ncommand = x\n");
	stop("g");
	ends("g/web", 0);
	stop("root");
	(void)signals_sent();
	adopt("g/web");
	expect_signals("left:TERM ");
	pass(10 * SEC);
	ck_assert_ptr_nonnull(strstr(signals_sent(), "left:ABRT "));
}
END_TEST

START_TEST(kept_process_is_spared_by_the_kill_of_its_service)
{
	begin_recorded(KEEP);
	adopt("g/web");
	stop("g");
	(void)signals_sent();
	pass(10 * SEC);
	expect("g/web killing");
	expect_signals("g/web*:ABRT ");
	ck_assert_ptr_null(strstr(last_kill(), "remaining"));
}
END_TEST

/* --- control groups --- */

static char group_signals[256];

void __wrap_control_group_signal(const struct control_group *group, int signo);
void __wrap_control_group_signal(const struct control_group *group, int signo)
{
	(void)group;
	(void)strcat(strcat(group_signals, sigabbrev_np(signo)), " ");
}

void __wrap_control_group_kill(struct control_group *group);
void __wrap_control_group_kill(struct control_group *group)
{
	if (group->exists)
		(void)strcat(group_signals, "killed ");
}

void __wrap_control_group_thaw_soon(struct control_group *group);
void __wrap_control_group_thaw_soon(struct control_group *group)
{
	if (group->exists)
		(void)strcat(group_signals, "thawed ");
}

static void expect_group(const char *expected)
{
	ck_assert_str_eq(group_signals, expected);
	*group_signals = '\0';
}

START_TEST(control_group_gets_the_signals_of_scope_all)
{
	begin_recorded(WEB "signal-scope = all\nkill-signal = ABRT\n");
	*group_signals = '\0';
	adopt("web");
	service("web")->group.exists = true;
	stop("web");
	expect_group("thawed TERM CONT ");
	expect_signals("");
	ck_assert(service_has_signalled(service("web"), 1));
	pass(10 * SEC);
	expect_group("thawed ");
	expect_signals("web*:ABRT left:ABRT ");
	pass(SEC);
	expect_group("killed ");
	service("web")->group.exists = false;
}
END_TEST

START_TEST(control_group_is_killed_as_a_whole)
{
	begin_recorded(WEB);
	*group_signals = '\0';
	service("web")->group.exists = true;
	stop("web");
	expect_group("thawed ");
	expect_signals("web*:TERM web*:CONT ");
	pass(10 * SEC);
	expect_group("killed ");
	service("web")->group.exists = false;
}
END_TEST

static TCase *kills(void)
{
	TCase *tc = tree_case("kills");

	tcase_add_test(tc, service_that_ignores_the_stop_signal_is_killed);
	tcase_add_test(tc, kill_signal_comes_once_before_sigkill);
	tcase_add_test(tc, kill_of_a_service_that_ends_by_itself_is_no_forced_stop);
	tcase_add_test(tc, start_command_is_ended_and_killed_with_its_service);
	tcase_add_test(tc, kept_process_outlives_the_stop_of_its_service);
	tcase_add_test(tc, kept_process_ends_with_the_root);
	tcase_add_test(tc, kept_process_found_after_the_stop_of_the_root_is_stopped_too);
	tcase_add_test(tc, kept_process_is_spared_by_the_kill_of_its_service);
	tcase_add_test(tc, control_group_gets_the_signals_of_scope_all);
	tcase_add_test(tc, control_group_is_killed_as_a_whole);
	return tc;
}

Suite *test_suite(void)
{
	Suite *s = suite_create("signal");
	TCase *tc = tree_case("stops");

	tcase_add_loop_test(tc, stop_signal_reaches_the_processes_of_its_scope, 0,
			    ARRAY_SIZE(scopes));
	tcase_add_test(tc, stop_signal_is_sent_once_to_each_process);
	tcase_add_test(
		tc,
		remaining_processes_are_signalled_after_the_end_of_a_main_process_with_scope_main);
	tcase_add_test(tc, suspended_remaining_process_is_resumed);
	tcase_add_test(tc, stop_signal_is_that_of_the_configuration);
	tcase_add_test(tc, service_that_hangs_gets_its_watchdog_signal);
	tcase_add_test(tc, process_of_the_group_that_was_signalled_is_not_signalled_again);
	tcase_add_test(tc, process_that_is_younger_than_the_signal_of_its_group_gets_one);
	tcase_add_test(tc, group_is_known_while_its_number_is_no_pid);
	tcase_add_test(tc, group_without_its_leader_is_killed);
	tcase_add_test(tc, signal_of_an_operator_reaches_its_scope);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, kills());
	return s;
}
