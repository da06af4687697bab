/* Signals of a daemon in front of a command. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/main/signals.h"

static struct command_options options;
static struct command command;
static char sent[64];

int __wrap_kill(pid_t pid, int signo);
int __wrap_kill(pid_t pid, int signo)
{
	/* Its group is looked for at its end. */
	if (signo == 0) {
		errno = ESRCH;
		return -1;
	}
	ck_assert_int_eq(pid, -service("main")->main.pid);
	strcat(strcat(sent, sigabbrev_np(signo)), " ");
	return 0;
}

static void begin_command(void)
{
	begin("[main]\ncommand = x\n");
	options = (struct command_options){ .log_reaped = false };
	forward_init(&options.forward);
	command = (struct command){ .options = &options, .directory = -1 };
	*sent = '\0';
}

static bool signal_command(int signo)
{
	*sent = '\0';
	return command_signal(&command, service("main"), signo, 1);
}

static const struct {
	int signo;
	bool ends;
	const char *sent;
} rows[] = {
	{ SIGTERM, true, "TERM " },  { SIGINT, true, "INT " },	  { SIGHUP, false, "HUP " },
	{ SIGQUIT, false, "QUIT " }, { SIGUSR1, false, "USR1 " }, { SIGUSR2, false, "USR2 " },
	{ SIGCONT, false, "CONT " }, { SIGALRM, false, "ALRM " }, { SIGCHLD, false, "" },
};

START_TEST(signal_is_passed_on_and_may_end_the_tree)
{
	begin_command();
	ck_assert_int_eq(signal_command(rows[_i].signo), rows[_i].ends);
	ck_assert_str_eq(sent, rows[_i].sent);
	/* Its own stop signal is not sent as well. */
	ck_assert_int_eq(service("main")->main.signalled_usec > 0, rows[_i].ends);
}
END_TEST

START_TEST(signal_without_a_command_may_end_the_tree)
{
	begin_command();
	ck_assert_int_eq(command_signal(&command, NULL, rows[_i].signo, 1), rows[_i].ends);
	ends("main", 0);
	ck_assert_int_eq(signal_command(rows[_i].signo), rows[_i].ends);
	ck_assert_str_eq(sent, "");
}
END_TEST

START_TEST(signal_is_passed_on_as_its_rule_states)
{
	begin_command();
	ck_assert_int_eq(forward_rewrite(&options.forward, "TERM:QUIT"), 0);
	ck_assert_int_eq(forward_rewrite(&options.forward, "INT:"), 0);
	ck_assert(signal_command(SIGTERM));
	ck_assert_str_eq(sent, "QUIT ");
	ck_assert(command.other_sent);
	ck_assert(!signal_command(SIGINT));
	ck_assert_str_eq(sent, "");
}
END_TEST

START_TEST(suspended_command_is_continued_for_its_end)
{
	begin_command();
	command.stopped = true;
	ck_assert(signal_command(SIGTERM));
	ck_assert_str_eq(sent, "TERM CONT ");
	ck_assert(!signal_command(SIGHUP));
	ck_assert_str_eq(sent, "HUP CONT ");
	ck_assert(!signal_command(SIGUSR1));
	ck_assert_str_eq(sent, "USR1 ");
	ck_assert(!signal_command(SIGCONT));
	ck_assert(!command.stopped);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("command-signal");
	TCase *tc = tree_case("command-signal");

	tcase_add_loop_test(tc, signal_is_passed_on_and_may_end_the_tree, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(tc, signal_without_a_command_may_end_the_tree, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, signal_is_passed_on_as_its_rule_states);
	tcase_add_test(tc, suspended_command_is_continued_for_its_end);
	suite_add_tcase(s, tc);
	return s;
}
