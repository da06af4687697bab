#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "sys/process/command.h"
#include "sys/process/signals.h"

/* --- signals passed on --- */

START_TEST(every_signal_except_stops_is_passed_on_unchanged)
{
	struct forward f;

	forward_init(&f);
	ck_assert_int_eq(f.scope, FORWARD_GROUP);
	for (int i = 1; i < FORWARD_SIGNALS; i++) {
		bool suspends = i == SIGTSTP || i == SIGTTIN || i == SIGTTOU;

		ck_assert_int_eq(forward_as(&f, i, 1), i == SIGCHLD ? 0 : suspends ? SIGSTOP : i);
	}
	ck_assert_int_eq(forward_as(&f, 0, 1), 0);
	ck_assert_int_eq(forward_as(&f, FORWARD_SIGNALS, 1), 0);
	ck_assert_int_eq(forward_as(&f, -1, 1), 0);
}
END_TEST

START_TEST(the_command_alone_gets_stops_of_the_terminal_unchanged)
{
	static const int stops[] = { SIGTSTP, SIGTTIN, SIGTTOU };
	struct command_options o;

	command_options_init(&o);
	ck_assert_ptr_null(command_option(&o, COMMAND_SINGLE, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		ck_assert_int_eq(forward_as(&o.forward, stops[i], 1), stops[i]);
}
END_TEST

/* SIGPIPE of a log without a reader. */
START_TEST(signals_caused_by_init_are_not_passed_on)
{
	struct forward f;

	forward_init(&f);
	ck_assert_int_eq(forward_as(&f, SIGPIPE, getpid()), 0);
	ck_assert_int_eq(forward_as(&f, SIGPIPE, getpid() + 1), SIGPIPE);
	ck_assert_int_eq(forward_as(&f, SIGTERM, getpid()), SIGTERM);
}
END_TEST

START_TEST(signals_are_rewritten)
{
	struct forward f;

	forward_init(&f);
	ck_assert_int_eq(forward_rewrite(&f, "TERM:QUIT"), 0);
	ck_assert_int_eq(forward_rewrite(&f, "SIGQUIT:2"), 0);
	ck_assert_int_eq(forward_rewrite(&f, "1:0"), 0);
	ck_assert_int_eq(forward_rewrite(&f, "USR1:"), 0);
	ck_assert_int_eq(forward_rewrite(&f, "RTMIN+3:TERM"), 0);
	ck_assert_int_eq(forward_rewrite(&f, "INT:KILL"), 0);
	ck_assert_int_eq(forward_rewrite(&f, "INT:STOP"), 0);
	ck_assert_int_eq(forward_as(&f, SIGTERM, 1), SIGQUIT); /* and not SIGINT */
	ck_assert_int_eq(forward_as(&f, SIGQUIT, 1), SIGINT);
	ck_assert_int_eq(forward_as(&f, SIGHUP, 1), 0);
	ck_assert_int_eq(forward_as(&f, SIGUSR1, 1), 0);
	ck_assert_int_eq(forward_as(&f, 37, 1), SIGTERM);
	ck_assert_int_eq(forward_as(&f, SIGINT, 1), SIGSTOP); /* the later rule */
	ck_assert_int_eq(forward_as(&f, SIGUSR2, 1), SIGUSR2);
}
END_TEST

START_TEST(an_invalid_rule_is_refused)
{
	static const char *const bad[] = {
		"",
		":",
		":TERM",
		"TERM",
		"TERM-QUIT",
		"TERM:NO",
		"NO:TERM",
		"0:TERM",
		"65:1",
		"TERM:65",
		"KILL:1",
		"STOP:1",
		"CHLD:1",
		"TERM:1:2",
		"TERM: QUIT",
		"TERM:-1",
		"TERM:00x",
		" TERM:1",
		"RTMIN+99:TERM",
		"SIGAVERYLONGNAMEOFASIGNALTHATISNOTTHERE:TERM",
	};
	struct forward f, before;

	forward_init(&f);
	before = f;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(forward_rewrite(&f, bad[i]) == -EINVAL, "'%s'", bad[i]);
	ck_assert_int_eq(memcmp(&f, &before, sizeof(f)), 0);
}
END_TEST

/* --- the options --- */

START_TEST(options_are_parsed)
{
	struct command_options o;

	command_options_init(&o);
	ck_assert_uint_eq(o.leftover_timeout_usec, COMMAND_LEFTOVER_TIMEOUT_USEC);
	ck_assert_ptr_null(command_option(&o, COMMAND_SINGLE, NULL));
	ck_assert_int_eq(o.forward.scope, FORWARD_MAIN);
	ck_assert_ptr_null(command_option(&o, 'g', NULL));
	ck_assert_int_eq(o.forward.scope, FORWARD_GROUP);
	ck_assert_ptr_null(command_option(&o, COMMAND_SCOPE, "all"));
	ck_assert_int_eq(o.forward.scope, FORWARD_ALL);
	ck_assert_ptr_null(command_option(&o, 'p', "SIGKILL"));
	ck_assert_int_eq(o.death_signal, SIGKILL);
	ck_assert_ptr_null(command_option(&o, COMMAND_LEFTOVER, "250ms"));
	ck_assert_uint_eq(o.leftover_timeout_usec, 250 * USEC_PER_MSEC);
	ck_assert_ptr_null(command_option(&o, 'r', "HUP:0"));
	ck_assert_int_eq(forward_as(&o.forward, SIGHUP, 1), 0);
}
END_TEST

START_TEST(an_invalid_value_comes_with_the_expected_one)
{
	static const struct {
		int option;
		const char *value;
	} bad[] = {
		{ COMMAND_SCOPE, "session" },
		{ COMMAND_SCOPE, "" },
		{ 'p', "NOPE" },
		{ 'p', "0" },
		{ 'r', "TERM" },
		{ 'e', "256" },
		{ 'e', "-1" },
		{ 'e', "x" },
		{ 'e', "" },
		{ COMMAND_LEFTOVER, "5" },
		{ COMMAND_LEFTOVER, "-1s" },
	};
	struct command_options o, before;

	command_options_init(&o);
	before = o;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_ptr_nonnull(command_option(&o, bad[i].option, bad[i].value));
	ck_assert_int_eq(memcmp(&o, &before, sizeof(o)), 0);
}
END_TEST

START_TEST(an_unknown_option_is_named_with_the_nearest_one)
{
	static const struct option rows[] = { COMMAND_ROWS,
					      { "help", no_argument, NULL, 'h' },
					      {} };
	static const struct {
		const char *argument, *refusal;
	} bad[] = {
		{ "--rewirte", "unknown option '--rewirte': did you mean '--rewrite'?" },
		{ "--rewirte=TERM:INT", "unknown option '--rewirte': did you mean '--rewrite'?" },
		{ "--nothing-like-it", "unknown option '--nothing-like-it': see --help" },
		{ "--s", "ambiguous option '--s'" },
		{ "--help=x", "--help: takes no value" },
		{ "--rewrite", "--rewrite: missing value" },
		{ "-r", "--rewrite: missing value" },
		{ "-Zh", "unknown option '-Z': see --help" },
	};
	char refusal[COMMAND_REFUSAL_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *argv[] = { (char *)"x", (char *)bad[i].argument, NULL };
		int option;

		optind = opterr = 0;
		option = getopt_long(2, argv, "+:" COMMAND_LETTERS "h", rows, NULL);
		ck_assert(option == '?' || option == ':');
		ck_assert_str_eq(command_refusal(refusal, rows, option, argv[optind - 1]),
				 bad[i].refusal);
	}
}
END_TEST

START_TEST(a_status_is_that_of_a_shell)
{
	struct command_options o;

	command_options_init(&o);
	for (int i = 0; i < 256; i++)
		ck_assert_int_eq(command_status(&o, false, i), i);
	ck_assert_int_eq(command_status(&o, true, SIGKILL), 137);
	ck_assert_int_eq(command_status(&o, true, 64), 192);
	for (int i = 0; i < 256; i += 3) {
		char text[16];

		(void)snprintf(text, sizeof(text), "%d", i);
		ck_assert_ptr_null(command_option(&o, 'e', text));
	}
	for (int i = 0; i < 256; i++)
		ck_assert_int_eq(command_status(&o, false, i), i % 3 == 0 ? 0 : i);
	ck_assert_int_eq(command_status(&o, true, SIGQUIT), 131);
	ck_assert_int_eq(command_status(&o, true, SIGINT + 2), 0); /* 132 = 3 x 44 */
}
END_TEST

START_TEST(listen_pid_is_rewritten_for_the_command)
{
	char ours[32], others[] = "LISTEN_PID=1000000000", odd[] = "LISTEN_PID=7x";
	char *environment[] = { (char[]){ "A=b" }, ours, (char[]){ "LISTEN_FDS=2" }, NULL };
	char buf[COMMAND_LISTEN_PID_MAX];
	char *pid;

	(void)snprintf(ours, sizeof(ours), "LISTEN_PID=%d", (int)getpid());
	pid = command_listen_pid(environment, buf);
	ck_assert_ptr_nonnull(pid);
	(void)strcpy(pid, "4711");
	ck_assert_str_eq(environment[1], "LISTEN_PID=4711");

	environment[1] = others;
	ck_assert_ptr_null(command_listen_pid(environment, buf));
	ck_assert_str_eq(environment[1], others);
	environment[1] = odd;
	ck_assert_ptr_null(command_listen_pid(environment, buf));
	environment[1] = NULL;
	ck_assert_ptr_null(command_listen_pid(environment, buf));
}
END_TEST

START_TEST(the_death_signal_arrives_even_if_the_parent_has_ended)
{
	struct command_options o;
	struct signals was;
	sigset_t pending;

	command_options_init(&o);
	signals_hold(&was);
	command_watch_parent(&o, 1000000000); /* not asked for */
	ck_assert_int_eq(sigpending(&pending), 0);
	ck_assert_int_eq(sigismember(&pending, SIGUSR1), 0);
	ck_assert_ptr_null(command_option(&o, 'p', "USR1"));
	command_watch_parent(&o, getppid());
	ck_assert_int_eq(sigpending(&pending), 0);
	ck_assert_int_eq(sigismember(&pending, SIGUSR1), 0);
	command_watch_parent(&o, 1000000000);
	ck_assert_int_eq(sigpending(&pending), 0);
	ck_assert_int_eq(sigismember(&pending, SIGUSR1), 1);
}
END_TEST

/* --- the directory --- */

START_TEST(directory_is_left_and_kept_for_the_command)
{
	int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100), fd;
	struct stat before, kept, now, root;

	ck_assert_int_eq(chdir("/tmp"), 0);
	ck_assert_int_eq(stat(".", &before), 0);
	(void)close(STDIN_FILENO);
	ck_assert_int_eq(command_leave_directory(), -EBADF);
	ck_assert_int_lt(fcntl(STDIN_FILENO, F_GETFD), 0);
	ck_assert_int_eq(dup2(input, STDIN_FILENO), STDIN_FILENO);
	ck_assert_int_eq(stat(".", &now), 0);
	ck_assert_uint_eq(now.st_ino, before.st_ino);

	fd = command_leave_directory();
	ck_assert_int_gt(fd, STDERR_FILENO);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(fstat(fd, &kept), 0);
	ck_assert_uint_eq(kept.st_ino, before.st_ino);
	ck_assert_int_eq(stat(".", &now), 0);
	ck_assert_int_eq(stat("/", &root), 0);
	ck_assert_uint_eq(now.st_ino, root.st_ino);
	(void)close(fd);
	(void)close(input);
}
END_TEST

/* --- holding signals --- */

START_TEST(an_ignored_signal_arrives_while_it_is_blocked)
{
	struct signals was;
	struct sigaction action;
	sigset_t pending;

	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGCHLD, SIG_IGN);
	signals_hold(&was);
	ck_assert_int_eq(kill(getpid(), SIGHUP), 0);
	ck_assert_int_eq(sigpending(&pending), 0);
	ck_assert_int_eq(sigismember(&pending, SIGHUP), 1);
	ck_assert_int_eq(sigaction(SIGHUP, NULL, &action), 0);
	ck_assert(action.sa_handler == SIG_IGN);
	ck_assert_int_eq(sigaction(SIGCHLD, NULL, &action), 0);
	ck_assert(action.sa_handler == SIG_DFL);
	ck_assert_int_eq(sigismember(&was.ignored, SIGCHLD), 1);
	ck_assert_int_eq(sigismember(&was.ignored, SIGHUP), 0);
	ck_assert_int_eq(sigismember(&was.mask, SIGHUP), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("command");
	TCase *tc = tcase_create("command");

	tcase_add_test(tc, every_signal_except_stops_is_passed_on_unchanged);
	tcase_add_test(tc, the_command_alone_gets_stops_of_the_terminal_unchanged);
	tcase_add_test(tc, signals_caused_by_init_are_not_passed_on);
	tcase_add_test(tc, signals_are_rewritten);
	tcase_add_test(tc, an_invalid_rule_is_refused);
	tcase_add_test(tc, options_are_parsed);
	tcase_add_test(tc, an_invalid_value_comes_with_the_expected_one);
	tcase_add_test(tc, an_unknown_option_is_named_with_the_nearest_one);
	tcase_add_test(tc, a_status_is_that_of_a_shell);
	tcase_add_test(tc, listen_pid_is_rewritten_for_the_command);
	tcase_add_test(tc, the_death_signal_arrives_even_if_the_parent_has_ended);
	tcase_add_test(tc, directory_is_left_and_kept_for_the_command);
	tcase_add_test(tc, an_ignored_signal_arrives_while_it_is_blocked);
	suite_add_tcase(s, tc);
	return s;
}
