/* The things that a process is given when it is made, and how a failed start is explained. */
#include "tests/unit/fixtures/daemon/live-world.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/spawn/launch.h"
#include "tests/unit/fixtures/config-of.h"

#define ONCE "command = sh run\ntype = oneshot\n"

static const struct outcome *outcome(void)
{
	return &service("web")->run.outcome;
}

/* Writes the line of file "out" by @line, a command of the shell. */
static void print(const char *line)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "{ %s; } >out.new; mv out.new out\n", line);
	script("run", text);
}

START_TEST(environment_is_that_of_the_daemon_the_node_and_the_run)
{
	print("echo \"$SWANSONG_NODE $INHERITED $A $B\"");
	live_begin("environment = A=1\n[g/web]\nenvironment = B=2 SWANSONG_NODE=x\n" ONCE);
	await("g/web done");
	ck_assert_str_eq(await_line("out"), "g/web yes 1 2");
}
END_TEST

START_TEST(variable_of_the_node_replaces_that_of_the_daemon)
{
	print("env | grep -c ^INHERITED=; echo");
	live_begin("[web]\nenvironment = INHERITED=no\n" ONCE);
	await("web done");
	ck_assert_str_eq(await_line("out"), "1");
}
END_TEST

static int find_user(const char *name, uid_t *uid, gid_t *gid, char **home, char **shell)
{
	ck_assert_str_eq(name, "someone");
	*uid = *gid = 0x7fff1234;
	*home = strdup("/home/someone");
	*shell = strdup("/bin/false");
	return *home && *shell ? 0 : -ENOMEM;
}

static int find_groups(const char *name, gid_t gid, char **login, gid_t **groups, size_t *n)
{
	*login = strdup("someone");
	return *login ? 0 : -ENOMEM;
}

/* Variables of the node come later, and so replace these. */
START_TEST(user_has_home_shell_and_name)
{
	static const struct config_names names = { .user = find_user, .groups = find_groups };
	static const char *const expected[] = { "HOME=/home/someone", "SHELL=/bin/false",
						"USER=someone", "LOGNAME=someone", "A=1" };
	struct launch launch = { 0 };
	struct config *config =
		config_of("[web]\ncommand = x\nuser = someone\nenvironment = A=1\n", &names);

	live_begin("");
	ck_assert_int_eq(launch_init(&launch, &ctx, config_find(config, "web"), NULL, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		ck_assert_str_eq(launch.extras->environment[i], expected[i]);
	ck_assert_ptr_null(launch.extras->environment[ARRAY_SIZE(expected)]);
	launch_done(&launch);
	config_unref(config);
}
END_TEST

START_TEST(clear_environment_has_the_variables_that_pass)
{
	print("echo \"${INHERITED-none} ${PATH:+path} $SWANSONG_NODE $A\"");
	live_begin(
		"[web]\nenvironment-clear = yes\nenvironment-pass = PATH\nenvironment = A=1\n" ONCE);
	await("web done");
	ck_assert_str_eq(await_line("out"), "none path web 1");
}
END_TEST

START_TEST(service_with_notify_gets_the_socket_and_the_watchdog)
{
	print("echo \"${NOTIFY_SOCKET:+socket} $WATCHDOG_USEC $((WATCHDOG_PID - $$))\"");
	live_begin("[web]\nnotify = yes\nwatchdog = 5s\n" ONCE);
	await("web done");
	ck_assert_str_eq(await_line("out"), "socket 5000000 0");
}
END_TEST

START_TEST(listening_sockets_are_passed_by_number_and_pid)
{
	print("echo \"$LISTEN_FDS $((LISTEN_PID - $$)) $(readlink /proc/$$/fd/3 | cut -c1-6)\"");
	live_begin("[web]\nlisten = unix:@/socket\n" ONCE);
	await("web done");
	ck_assert_str_eq(await_line("out"), "1 0 socket");
}
END_TEST

START_TEST(commands_around_a_service_get_no_sockets)
{
	print("echo \"${LISTEN_FDS-none} ${LISTEN_PID-none}\"");
	live_begin("[web]\nlisten = unix:@/socket\ncommand = sleep 100\nstart-command = sh run\n");
	await("web up");
	ck_assert_str_eq(await_line("out"), "none none");
}
END_TEST

START_TEST(readiness_descriptor_has_its_number)
{
	script("run", "echo >&7; exec sleep 100\n");
	live_begin("[web]\nready = fd:7\ncommand = sh run\n");
	await("web up");
}
END_TEST

START_TEST(service_that_closes_its_readiness_descriptor_is_not_ready)
{
	script("run", "exec 7>&-; echo closed >out; exec sleep 100\n");
	live_begin("[web]\nready = fd:7\ncommand = sh run\n");
	ck_assert_str_eq(await_line("out"), "closed");
	live_turn();
	expect("web starting");
}
END_TEST

START_TEST(streams_and_attributes_are_those_of_the_key)
{
	print("read line; echo \"$line $(umask) $(ulimit -n) $(pwd | cut -c1-5)\"");
	script("in", "hello\n");
	live_begin("[web]\nstdin = file:@/in\numask = 027\nlimit-nofile = 77\n" ONCE);
	await("web done");
	ck_assert_str_eq(await_line("out"), "hello 0027 77 /tmp/");
}
END_TEST

START_TEST(service_leads_a_session_of_its_own)
{
	print("cut -d' ' -f5,6 /proc/$$/stat | tr ' ' -; echo");
	live_begin("[web]\ncommand = sh run\nrestart = never\n");
	await_line("out");
	ck_assert_ptr_nonnull(strchr(await_line("out"), '-'));
	ck_assert_int_eq(atoi(await_line("out")), atoi(strchr(await_line("out"), '-') + 1));
}
END_TEST

/* --- failures --- */

static const struct {
	const char *keys;
	int error;
	const char *step, *subject;
} failures[] = {
	{ "command = /nonexistent/program\n", ENOENT, "execute", "/nonexistent/program" },
	{ "command = sleep 1\ndirectory = /nonexistent/there\n", ENOENT, "enter the directory",
	  "/nonexistent/there" },
	{ "command = sleep 1\nstdin = file:/nonexistent/in\n", ENOENT, "open", "/nonexistent/in" },
};

START_TEST(failed_start_names_its_step_and_its_subject)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "[web]\nrestart = never\n%s", failures[_i].keys);
	live_begin(text);
	await("web failed");
	ck_assert_int_eq(outcome()->kind, OUTCOME_SPAWN_FAILED);
	ck_assert_int_eq(outcome()->value, failures[_i].error);
	ck_assert_str_eq(outcome()->step, failures[_i].step);
	ck_assert_ptr_nonnull(outcome()->subject);
	ck_assert_str_eq(outcome()->subject, failures[_i].subject);
	ck_assert_uint_eq(swansong_guard_count(find("web")->handle), 0);
}
END_TEST

START_TEST(failed_command_around_a_service_names_its_program)
{
	live_begin("[web]\nrestart = never\ncommand = sleep 100\nstart-command = true\n"
		   "start-command = /nonexistent/prepare\n");
	await("web failed");
	ck_assert_int_eq(outcome()->kind, OUTCOME_SPAWN_FAILED);
	ck_assert_str_eq(outcome()->subject, "/nonexistent/prepare");
	ck_assert_str_eq(outcome()->hook, "start-command");
}
END_TEST

/* --- final actions and commands of a failure --- */

START_TEST(final_action_runs_last_command_first_with_the_result)
{
	script("final", "echo $1 $SWANSONG_RESULT >>out.new; [ $1 = b ] || mv out.new out\n");
	live_begin("[g]\nfinal = sh final a\nfinal = sh final b\n[g/web]\ncommand = sleep 100\n");
	await("g/web up");
	stop("g");
	ck_assert_str_eq(await_line("out"), "b clean");
	while (!find("g")->complete)
		live_turn();
	ck_assert(!find("g")->forced);
}
END_TEST

START_TEST(final_action_gets_a_forced_result)
{
	script("final", "echo $SWANSONG_RESULT $SWANSONG_LATE >out\n");
	script("run", "trap '' TERM; echo up >pid; while :; do sleep 100; done\n");
	live_begin("[g]\nfinal = sh final\n[g/web]\nstop-timeout = 100ms\ncommand = sh run\n");
	await_line("pid");
	stop("g");
	ck_assert_str_eq(await_line("out"), "forced g/web");
}
END_TEST

START_TEST(remaining_processes_of_a_final_action_are_killed)
{
	script("final", "sleep 100 & echo $! >pid\n");
	live_begin("[g]\nfinal = sh final\n[g/web]\ncommand = sleep 100\n");
	await("g/web up");
	stop("g");
	while (!find("g")->complete)
		live_turn();
	for (uint64_t until = clock_now_usec() + 20 * SEC;
	     kill(await_pid("pid"), 0) == 0 && clock_now_usec() < until;)
		live_turn();
	ck_assert_int_lt(kill(await_pid("pid"), 0), 0);
}
END_TEST

START_TEST(failure_runs_its_command_with_the_reason)
{
	script("alert", "echo \"$SWANSONG_NODE $SWANSONG_REASON $SWANSONG_EXIT\" >out\n");
	live_begin("[web]\nrestart = never\ncommand = sh -c 'exit 3'\n"
		   "on-failure-command = sh alert\n");
	await("web failed");
	ck_assert_str_eq(await_line("out"), "web exit-code exited with status 3");
}
END_TEST

START_TEST(command_of_a_failure_ends_at_its_timeout)
{
	script("alert", "echo $$ >pid; sleep 100\n");
	live_begin("[web]\nrestart = never\ncommand = false\non-failure-timeout = 100ms\n"
		   "on-failure-command = sh alert\non-failure-command = touch second\n");
	await("web failed");
	for (uint64_t until = clock_now_usec() + 20 * SEC;
	     swansong_guard_count(find("web")->handle) > 0 && clock_now_usec() < until;)
		live_turn();
	ck_assert_uint_eq(swansong_guard_count(find("web")->handle), 0);
	ck_assert(is_logged("its on-failure-timeout is spent"));
	ck_assert_int_lt(access("second", F_OK), 0);
}
END_TEST

START_TEST(command_of_a_failure_runs_once_in_its_interval)
{
	script("alert", "echo x >>out\n");
	live_begin("[web]\nrestart = never\nautostart = no\ncommand = false\n"
		   "on-failure-interval = 1h\non-failure-command = sh alert\n");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(start("web"), 0);
		await("web failed");
		for (int n = 0; n < 100 && swansong_guard_count(find("web")->handle) > 0; n++)
			live_turn();
		ck_assert_uint_eq(swansong_guard_count(find("web")->handle), 0);
	}
	script("expected", "x\n");
	ck_assert_int_eq(system("cmp -s out expected"), 0);
}
END_TEST

static TCase *actions(void)
{
	TCase *tc = live_case("actions");

	tcase_add_test(tc, final_action_runs_last_command_first_with_the_result);
	tcase_add_test(tc, final_action_gets_a_forced_result);
	tcase_add_test(tc, remaining_processes_of_a_final_action_are_killed);
	tcase_add_test(tc, failure_runs_its_command_with_the_reason);
	tcase_add_test(tc, command_of_a_failure_ends_at_its_timeout);
	tcase_add_test(tc, command_of_a_failure_runs_once_in_its_interval);
	return tc;
}

Suite *test_suite(void)
{
	Suite *s = suite_create("launch");
	TCase *tc = live_case("launch");

	tcase_add_test(tc, environment_is_that_of_the_daemon_the_node_and_the_run);
	tcase_add_test(tc, variable_of_the_node_replaces_that_of_the_daemon);
	tcase_add_test(tc, user_has_home_shell_and_name);
	tcase_add_test(tc, clear_environment_has_the_variables_that_pass);
	tcase_add_test(tc, service_with_notify_gets_the_socket_and_the_watchdog);
	tcase_add_test(tc, listening_sockets_are_passed_by_number_and_pid);
	tcase_add_test(tc, commands_around_a_service_get_no_sockets);
	tcase_add_test(tc, readiness_descriptor_has_its_number);
	tcase_add_test(tc, service_that_closes_its_readiness_descriptor_is_not_ready);
	tcase_add_test(tc, streams_and_attributes_are_those_of_the_key);
	tcase_add_test(tc, service_leads_a_session_of_its_own);
	tcase_add_loop_test(tc, failed_start_names_its_step_and_its_subject, 0,
			    ARRAY_SIZE(failures));
	tcase_add_test(tc, failed_command_around_a_service_names_its_program);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, actions());
	return s;
}
