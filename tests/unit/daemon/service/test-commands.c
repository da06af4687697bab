/* The commands around a service: which of them run, with which variables, and what follows. */
#include "tests/unit/fixtures/daemon/service-world.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/service/parts.h"
#include "daemon/service/reload.h"

#define ALL                                                          \
	"[web]\ncommand = x\nready = notify\nrestart = never\n"      \
	"start-command = prepare one\nstart-command = prepare two\n" \
	"post-start = announce\nstop-command = ask\npost-stop = clean 1\npost-stop = clean 2\n"

static void expect_commands(const char *expected)
{
	ck_assert_str_eq(commands(), expected);
}

static void begin_up(void)
{
	begin_recorded(ALL);
	hook_ends("web", 0);
	hook_ends("web", 0);
	ready("web");
	hook_ends("web", 0);
	expect("web up");
	(void)commands();
}

START_TEST(commands_run_one_by_one_around_the_service)
{
	begin_recorded(ALL);
	expect("web preparing");
	expect_commands("prepare one; ");
	ck_assert_str_eq(launched(), "");
	hook_ends("web", 0);
	expect("web preparing");
	expect_commands("prepare two; ");
	hook_ends("web", 0);
	expect("web starting");
	ck_assert_str_eq(launched(), "web ");
	expect_commands("");
	ready("web");
	expect("web readying");
	expect_commands("MAINPID=* announce; ");
	hook_ends("web", 0);
	expect("web up");
	stop("web");
	expect("web asking");
	expect_commands("MAINPID=* SERVICE_RESULT=success ask; ");
	ck_assert_str_eq(signals_sent(), "");
	hook_ends("web", 0);
	expect("web stopping");
	ck_assert_str_eq(signals_sent(), ""); /* it was asked */
	ends("web", 0);
	expect("web closing");
	expect_commands("SERVICE_RESULT=success EXIT_CODE=exited EXIT_STATUS=0 clean 1; ");
	hook_ends("web", 0);
	expect("web closing");
	expect_commands("SERVICE_RESULT=success EXIT_CODE=exited EXIT_STATUS=0 clean 2; ");
	ck_assert(!find("web")->complete);
	hook_ends("web", 0);
	expect("web down");
	ck_assert(find("web")->complete);
}
END_TEST

START_TEST(failed_start_command_keeps_the_service_from_starting)
{
	begin_recorded(ALL);
	hook_ends("web", 3);
	ck_assert_str_eq(launched(), "");
	expect("web finishing");
	ck_assert_str_eq(service("web")->run.outcome.hook, "start-command");
	ck_assert_int_eq(service("web")->run.outcome.value, 3);
	expect_commands("prepare one; SERVICE_RESULT=exit-code clean 1; ");
	hook_ends("web", 0);
	hook_ends("web", 0);
	expect("web failed");
}
END_TEST

START_TEST(failed_post_start_ends_the_service)
{
	begin_recorded(ALL);
	hook_ends("web", 0);
	hook_ends("web", 0);
	ready("web");
	(void)commands();
	hook_ends("web", 1);
	expect("web cleaning");
	ck_assert_str_eq(signals_sent(), "web*:TERM web*:CONT ");
	ends("web", 0);
	expect("web finishing");
	ck_assert_str_eq(service("web")->run.outcome.hook, "post-start");
	expect_commands("SERVICE_RESULT=exit-code EXIT_CODE=exited EXIT_STATUS=0 clean 1; ");
	hook_ends("web", 0);
	hook_ends("web", 0);
	expect("web failed");
}
END_TEST

START_TEST(failed_stop_command_is_followed_by_the_signal)
{
	begin_up();
	stop("web");
	hook_ends("web", 1);
	expect("web stopping");
	ck_assert_str_eq(signals_sent(), "web*:TERM web*:CONT ");
	ends("web", 0);
	ck_assert_ptr_null(service("web")->run.outcome.hook);
}
END_TEST

START_TEST(each_post_stop_runs_whether_others_fail)
{
	begin_up();
	ends("web", 2);
	expect("web finishing");
	expect_commands("SERVICE_RESULT=exit-code EXIT_CODE=exited EXIT_STATUS=2 clean 1; ");
	hook_ends("web", 1);
	expect("web finishing");
	expect_commands("SERVICE_RESULT=exit-code EXIT_CODE=exited EXIT_STATUS=2 clean 2; ");
	hook_ends("web", 1);
	expect("web failed");
}
END_TEST

START_TEST(service_that_never_was_up_is_not_asked)
{
	begin_recorded(ALL);
	hook_ends("web", 0);
	hook_ends("web", 0);
	expect("web starting");
	(void)commands();
	stop("web");
	expect("web stopping");
	expect_commands("");
	ends("web", 0);
	expect("web closing");
}
END_TEST

START_TEST(service_that_ended_before_its_signal_is_not_asked)
{
	begin_recorded("[web]\ncommand = x\nstop-command = ask\n"
		       "[client]\ncommand = x\nrequires = web\n");
	expect("web up, client up");
	stop("root");
	expect("web waiting, client stopping");
	ends("web", 0);
	expect_commands("");
	end_asked();
	expect("web down, client down");
}
END_TEST

START_TEST(killed_service_has_a_timeout_as_result)
{
	begin_recorded("[web]\ncommand = x\nstop-timeout = 10s\npost-stop = clean\n");
	stop("web");
	pass(10 * SEC);
	expect("web killing");
	ends("web", 1);
	expect("web closing");
	expect_commands("SERVICE_RESULT=timeout EXIT_CODE=exited EXIT_STATUS=1 clean; ");
}
END_TEST

START_TEST(oneshot_runs_its_later_commands_without_a_process)
{
	begin_recorded("[once]\ncommand = x\ntype = oneshot\npost-start = announce\n"
		       "stop-command = undo\npost-stop = clean\n");
	ends("once", 0);
	expect("once readying");
	expect_commands("announce; ");
	hook_ends("once", 0);
	expect("once up");
	stop("once");
	expect("once asking");
	expect_commands("SERVICE_RESULT=success EXIT_CODE=exited EXIT_STATUS=0 undo; ");
	hook_ends("once", 0);
	expect("once closing");
	hook_ends("once", 0);
	expect("once down");
}
END_TEST

START_TEST(command_that_cannot_be_made_has_failed)
{
	begin_recorded(
		"[web]\ncommand = x\nautostart = no\nrestart = never\nstart-command = prepare\n");
	launch_error = ENOENT;
	ck_assert_int_eq(start("web"), 0);
	expect("web failed");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_SPAWN_FAILED);
	ck_assert_int_eq(service("web")->run.outcome.value, ENOENT);
	ck_assert_str_eq(service("web")->run.outcome.step, "execute");
	ck_assert_str_eq(service("web")->run.outcome.subject, "prepare");
	ck_assert_str_eq(service("web")->run.outcome.hook, "start-command");
}
END_TEST

START_TEST(start_command_has_the_time_of_the_start)
{
	begin_recorded("[web]\ncommand = x\nrestart = never\nstart-timeout = 20s\n"
		       "stop-timeout = 5s\nstart-command = prepare\n");
	expect_left("web", 20 * SEC);
	pass(15 * SEC);
	hook_ends("web", 0);
	expect("web up");
	finish();
	begin_recorded("[web]\ncommand = x\nrestart = never\nstart-timeout = 20s\n"
		       "stop-timeout = 5s\nstart-command = prepare\n");
	pass(20 * SEC);
	expect("web cleaning");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_START_TIMEOUT);
	ck_assert_str_eq(service("web")->run.outcome.hook, "start-command");
	ck_assert_str_eq(signals_sent(), "hook*:TERM hook*:CONT ");
	hook_ends("web", 1);
	expect("web failed");
	ck_assert_int_eq(service("web")->run.outcome.kind, OUTCOME_START_TIMEOUT);
}
END_TEST

/* --- reload --- */

#define RELOAD                                                      \
	"[web]\ncommand = x\nready = notify\nstart-timeout = 20s\n" \
	"reload-command = check\nreload-command = again\n"

START_TEST(reload_sends_its_signal)
{
	begin_recorded("[web]\ncommand = x\nready = notify\nreload-signal = USR1\n");
	ck_assert_int_eq(service_reload(service("web")), -ESRCH);
	ready("web");
	would_end = true;
	ck_assert_int_eq(service_reload(service("web")), -EPROTO);
	ck_assert_str_eq(signals_sent(), "");
	would_end = false;
	ck_assert_int_eq(service_reload(service("web")), 0);
	ck_assert_str_eq(signals_sent(), "web:USR1 ");
	expect("web up");
	ends("web", 1);
	ck_assert_int_eq(service_reload(service("web")), -ESRCH);
}
END_TEST

START_TEST(reload_commands_run_one_by_one)
{
	begin_recorded(RELOAD);
	ck_assert_int_eq(service_reload(service("web")), -ESRCH);
	ready("web");
	ck_assert_int_eq(service_reload(service("web")), 0);
	expect_commands("MAINPID=* check; ");
	ck_assert_ptr_nonnull(service_running_hook(service("web"), 0));
	ck_assert_ptr_null(service_running_hook(service("web"), 1));
	ck_assert_int_eq(service_reload(service("web")), -EBUSY);
	hook_ends("web", 0);
	expect_commands("MAINPID=* again; ");
	hook_ends("web", 0);
	expect_commands("");
	ck_assert_ptr_null(service_running_hook(service("web"), 0));
	expect("web up");
	pass(20 * SEC);
	ck_assert_str_eq(signals_sent(), "");
	ck_assert_int_eq(service_reload(service("web")), 0);
	expect_commands("MAINPID=* check; ");
}
END_TEST

START_TEST(failed_reload_command_is_the_last)
{
	begin_recorded(RELOAD);
	ready("web");
	ck_assert_int_eq(service_reload(service("web")), 0);
	hook_ends("web", 1);
	expect_commands("MAINPID=* check; ");
	expect("web up");
	ck_assert_ptr_null(service("web")->run.outcome.hook);
}
END_TEST

START_TEST(reload_command_is_killed_at_the_start_timeout)
{
	begin_recorded(RELOAD);
	ready("web");
	ck_assert_int_eq(service_reload(service("web")), 0);
	pass(20 * SEC - 10000);
	ck_assert_str_eq(signals_sent(), "");
	pass(10000);
	ck_assert_str_eq(signals_sent(), "hook*:KILL ");
	expect("web up");
}
END_TEST

START_TEST(reload_command_ends_with_the_service)
{
	begin_recorded(RELOAD);
	ready("web");
	ck_assert_int_eq(service_reload(service("web")), 0);
	stop("web");
	ck_assert_str_eq(signals_sent(), "hook*:TERM hook*:CONT web*:TERM web*:CONT ");
	ends("web", 0);
	expect("web stopping");
	(void)commands();
	hook_ends("web", 0);
	expect_commands("");
	expect("web down");
}
END_TEST

static TCase *reloads(void)
{
	TCase *tc = tree_case("reload");

	tcase_add_test(tc, reload_sends_its_signal);
	tcase_add_test(tc, reload_commands_run_one_by_one);
	tcase_add_test(tc, failed_reload_command_is_the_last);
	tcase_add_test(tc, reload_command_is_killed_at_the_start_timeout);
	tcase_add_test(tc, reload_command_ends_with_the_service);
	return tc;
}

Suite *test_suite(void)
{
	Suite *s = suite_create("commands");
	TCase *tc = tree_case("commands");

	tcase_add_test(tc, commands_run_one_by_one_around_the_service);
	tcase_add_test(tc, failed_start_command_keeps_the_service_from_starting);
	tcase_add_test(tc, failed_post_start_ends_the_service);
	tcase_add_test(tc, failed_stop_command_is_followed_by_the_signal);
	tcase_add_test(tc, each_post_stop_runs_whether_others_fail);
	tcase_add_test(tc, service_that_never_was_up_is_not_asked);
	tcase_add_test(tc, service_that_ended_before_its_signal_is_not_asked);
	tcase_add_test(tc, killed_service_has_a_timeout_as_result);
	tcase_add_test(tc, oneshot_runs_its_later_commands_without_a_process);
	tcase_add_test(tc, command_that_cannot_be_made_has_failed);
	tcase_add_test(tc, start_command_has_the_time_of_the_start);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, reloads());
	return s;
}
