/* Ends of processes, those that they leave behind, and main processes that a service names. */
#include "tests/unit/fixtures/daemon/live-world.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/reap/orphans.h"
#include "daemon/service/main-process.h"

static const struct outcome *outcome(void)
{
	return &service("web")->run.outcome;
}

static void expect_refused(pid_t pid, int error, const char *expected)
{
	pid_t before = service("web")->main.pid;
	const char *why;

	ck_assert_int_eq(service_set_main(service("web"), pid, &why), -error);
	ck_assert_str_eq(why, expected);
	ck_assert_int_eq(service("web")->main.pid, before);
}

/* --- ends --- */

static const struct {
	const char *script;
	const char *state;
	enum outcome_kind kind;
	int value;
} ends_of[] = {
	{ "exit 0\n", "web done", OUTCOME_EXITED, 0 },
	{ "exit 5\n", "web failed", OUTCOME_EXITED, 5 },
	{ "kill -USR1 $$\n", "web failed", OUTCOME_SIGNALED, SIGUSR1 },
};

START_TEST(end_of_a_process_is_the_outcome)
{
	script("run", ends_of[_i].script);
	live_begin("[web]\nrestart = never\ncommand = sh run\n");
	await(ends_of[_i].state);
	ck_assert_int_eq(outcome()->kind, ends_of[_i].kind);
	ck_assert_int_eq(outcome()->value, ends_of[_i].value);
	ck_assert_int_eq(outcome()->end_value, ends_of[_i].value);
	ck_assert_int_eq(outcome()->end,
			 ends_of[_i].kind == OUTCOME_EXITED ? END_EXITED : END_KILLED);
	ck_assert_uint_eq(swansong_guard_count(find("web")->handle), 0);
}
END_TEST

START_TEST(service_that_ignores_its_signal_is_killed)
{
	script("run", "trap '' TERM; echo up >out; while :; do sleep 100; done\n");
	live_begin("[web]\nstop-timeout = 100ms\ncommand = sh run\n");
	await_line("out");
	stop("web");
	await("web down");
	ck_assert_int_eq(outcome()->end, END_KILLED);
	ck_assert_int_eq(outcome()->end_value, SIGKILL);
	ck_assert(find("web")->forced);
}
END_TEST

START_TEST(stop_signal_reaches_the_whole_group)
{
	script("run", "sleep 100 & echo $! >pid; wait\n");
	live_begin("[web]\ncommand = sh run\n");
	await_pid("pid");
	stop("web");
	await("web down");
	ck_assert(!find("web")->forced);
	ck_assert_int_eq(outcome()->end_value, SIGTERM);
}
END_TEST

/* --- remaining processes --- */

static const char *const left[] = {
	"sleep 100 & echo $! >pid\n",
	"setsid sleep 100 & echo $! >pid\n",
	"( setsid sh -c 'sleep 100 & echo $! >pid' & )\n",
};

START_TEST(remaining_process_is_found_and_ended_before_a_restart)
{
	script("run", left[_i]);
	script("wait", "while [ ! -s pid ]; do sleep 0.01; done; exit 4\n");
	live_begin("[web]\nrestart = never\ncommand = sh -c '. ./run; . ./wait'\n");
	await("web failed");
	ck_assert_int_eq(outcome()->value, 4);
	ck_assert(is_logged("found remaining pid"));
	ck_assert_int_lt(kill(await_pid("pid"), 0), 0);
	ck_assert(!find("web")->forced);
}
END_TEST

START_TEST(remaining_process_is_killed_if_it_ignores_the_signal)
{
	script("rest", "trap '' TERM; echo $$ >pid; while :; do sleep 100; done\n");
	script("run", "setsid sh rest & while [ ! -s pid ]; do sleep 0.01; done; exit 4\n");
	live_begin("[web]\nrestart = never\nstop-timeout = 100ms\ncommand = sh run\n");
	await("web cleaning");
	await_remaining("web", 1);
	ck_assert_uint_ge(swansong_guard_count(find("web")->handle), 1);
	await("web failed");
	ck_assert_int_lt(kill(await_pid("pid"), 0), 0);
}
END_TEST

START_TEST(remaining_process_is_kept_if_the_service_keeps_it)
{
	script("run", "setsid sleep 100 & echo $! >pid; exit 4\n");
	live_begin("[web]\nrestart = never\nkill-leftovers = no\ncommand = sh run\n");
	await("web failed");
	await_remaining("web", 1);
	ck_assert_int_eq(kill(await_pid("pid"), 0), 0);
	ck_assert_int_eq(kill(await_pid("pid"), SIGKILL), 0);
	await_remaining("web", 0);
}
END_TEST

START_TEST(process_without_a_known_origin_belongs_to_no_service)
{
	script("run", "env -u SWANSONG_NODE setsid sleep 100 & echo $! >pid\n"
		      "while ! grep -q sleep /proc/$!/comm; do sleep 0.01; done\nexit 4\n");
	live_begin("[web]\nrestart = never\ncommand = sh run\n");
	await("web failed");
	await_remaining("web", 0);
	ck_assert_int_eq(kill(await_pid("pid"), 0), 0);
	ck_assert_uint_eq(orphans_kill_unowned(orphans), 1);
}
END_TEST

START_TEST(unowned_processes_are_killed_with_their_children)
{
	script("run", "env -u SWANSONG_NODE setsid sh -c 'sleep 100 & echo $! >pid; wait' &\n"
		      "while [ ! -s pid ]; do sleep 0.01; done\nexit 4\n");
	live_begin("[web]\nrestart = never\ncommand = sh run\n");
	await("web failed");
	ck_assert_int_eq(kill(await_pid("pid"), 0), 0);
	ck_assert_uint_eq(orphans_kill_unowned(orphans), 2);
}
END_TEST

START_TEST(process_that_left_while_the_service_runs_is_found_by_a_scan)
{
	script("run", "( setsid sleep 100 & echo $! >pid ); exec sleep 100\n");
	live_begin("[web]\ncommand = sh run\n");
	await_pid("pid");
	await("web up");
	for (int i = 0; i < 100 && list_is_empty(&service("web")->remaining); i++) {
		orphans_scan(orphans);
		live_turn();
	}
	await_remaining("web", 1);
	expect("web up");
	stop("web");
	await("web down");
	ck_assert_int_lt(kill(await_pid("pid"), 0), 0);
}
END_TEST

/* --- the main process --- */

START_TEST(service_names_another_main_process)
{
	const char *why;
	pid_t first, second;

	script("run", "sleep 100 & echo $! >pid; wait; exec sleep 100\n");
	live_begin("[web]\nrestart = never\ncommand = sh run\n");
	second = await_pid("pid");
	await("web up");
	first = service("web")->main.pid;
	ck_assert(service_has_member(service("web"), second, getuid()));
	ck_assert_int_eq(service_set_main(service("web"), second, &why), 0);
	ck_assert_int_eq(service("web")->main.pid, second);
	await_remaining("web", 1);
	expect("web up");
	ck_assert_uint_eq(swansong_guard_count(find("web")->handle), 2);
	ck_assert_int_eq(kill(first, SIGKILL), 0);
	await_remaining("web", 0);
	expect("web up");
	ck_assert_int_eq(kill(second, SIGUSR1), 0);
	await("web failed");
	ck_assert_int_eq(outcome()->end_value, SIGUSR1);
}
END_TEST

START_TEST(end_of_a_main_process_that_is_no_child_has_no_status)
{
	const char *why;
	pid_t second;

	script("run", "sleep 100 & echo $! >pid; wait; exec sleep 100\n");
	live_begin("[web]\nrestart = never\ncommand = sh run\n");
	second = await_pid("pid");
	await("web up");
	ck_assert_int_eq(service_set_main(service("web"), second, &why), 0);
	ck_assert_int_eq(kill(second, SIGKILL), 0);
	await("web failed");
	ck_assert_int_eq(outcome()->kind, OUTCOME_UNKNOWN);
}
END_TEST

START_TEST(only_a_process_of_the_service_becomes_its_main_process)
{
	pid_t other = fork();

	ck_assert_int_ge(other, 0);
	if (other == 0) {
		(void)pause();
		_exit(0);
	}
	script("run", "echo up >out; exec sleep 100\n");
	live_begin("[web]\ncommand = sh run\n[other]\ncommand = sleep 100\n");
	await("other up");
	await_line("out");
	ck_assert(!service_has_member(service("web"), other, getuid()));
	ck_assert(!service_has_member(service("web"), service("other")->main.pid, getuid()));
	ck_assert(service_has_member(service("web"), service("web")->main.pid, getuid()));
	expect_refused(getpid(), EPERM, "not a process of the service");
	expect_refused(other, EPERM, "not a process of the service");
	expect_refused(service("other")->main.pid, EPERM, "not a process of the service");
	expect_refused(0x7fffff00, ESRCH, "no such process");
	ck_assert_int_eq(kill(other, SIGKILL), 0);
}
END_TEST

/* --- pid files --- */

static void begin_forking(const char *text)
{
	script("run", text);
	live_begin("[web]\ntype = forking\nrestart = never\nstart-timeout = 30s\n"
		   "command = sh run\npid-file = @/main.pid\n");
}

START_TEST(pid_file_names_the_main_process)
{
	begin_forking("setsid sleep 100 & echo $! >main.pid\n");
	await("web up");
	ck_assert_int_eq(service("web")->main.pid, await_pid("main.pid"));
	ck_assert(is_logged("main process is pid"));
	ck_assert_int_eq(outcome()->kind, OUTCOME_NONE);
	ck_assert_uint_eq(swansong_guard_count(find("web")->handle), 1);
	ck_assert_int_eq(kill(await_pid("main.pid"), SIGUSR1), 0);
	await("web failed");
	ck_assert_int_eq(outcome()->end_value, SIGUSR1);
}
END_TEST

START_TEST(pid_file_that_comes_later_is_waited_for)
{
	begin_forking("setsid sh -c 'while [ ! -e go ]; do sleep 0.01; done; echo $$ >main.pid; "
		      "exec sleep 100' & echo $! >pid\n");
	await_pid("pid");
	while (!service_awaits_main(service("web")))
		live_turn();
	expect("web starting");
	script("go", "");
	await("web up");
	ck_assert_int_eq(service("web")->main.pid, await_pid("pid"));
	ck_assert(!service_awaits_main(service("web")));
}
END_TEST

START_TEST(pid_file_with_an_unowned_process_is_refused)
{
	begin_forking("echo 1 >main.pid\n");
	await("web failed");
	ck_assert(is_logged("not a process of the service"));
}
END_TEST

START_TEST(forking_service_without_a_process_has_failed)
{
	begin_forking("exit 0\n");
	await("web failed");
	ck_assert(is_logged("no main process: pid-file "));
}
END_TEST

static TCase *mains(void)
{
	TCase *tc = live_case("main process");

	tcase_add_test(tc, service_names_another_main_process);
	tcase_add_test(tc, end_of_a_main_process_that_is_no_child_has_no_status);
	tcase_add_test(tc, only_a_process_of_the_service_becomes_its_main_process);
	tcase_add_test(tc, pid_file_names_the_main_process);
	tcase_add_test(tc, pid_file_that_comes_later_is_waited_for);
	tcase_add_test(tc, pid_file_with_an_unowned_process_is_refused);
	tcase_add_test(tc, forking_service_without_a_process_has_failed);
	return tc;
}

Suite *test_suite(void)
{
	Suite *s = suite_create("reap");
	TCase *tc = live_case("ends");

	tcase_add_loop_test(tc, end_of_a_process_is_the_outcome, 0, ARRAY_SIZE(ends_of));
	tcase_add_test(tc, service_that_ignores_its_signal_is_killed);
	tcase_add_test(tc, stop_signal_reaches_the_whole_group);
	tcase_add_loop_test(tc, remaining_process_is_found_and_ended_before_a_restart, 0,
			    ARRAY_SIZE(left));
	tcase_add_test(tc, remaining_process_is_killed_if_it_ignores_the_signal);
	tcase_add_test(tc, remaining_process_is_kept_if_the_service_keeps_it);
	tcase_add_test(tc, process_without_a_known_origin_belongs_to_no_service);
	tcase_add_test(tc, unowned_processes_are_killed_with_their_children);
	tcase_add_test(tc, process_that_left_while_the_service_runs_is_found_by_a_scan);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, mains());
	return s;
}
