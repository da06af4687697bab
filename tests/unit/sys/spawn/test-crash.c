/*
 * Each test runs the program of crashing.c, which crashes and goes on, and compares its output and its
 * end.
 */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/unit/fixtures/scratch.h"
#include "tests/unit/sys/spawn/crashing.h"

#define AS_INIT	       true
#define REFUSED	       77
#define TEXTS	       15
#define TEXT_SIZE      100000
#define GOING_ON(name) "swansongd: " name ": executing it again\n"

static char out[4096];
static int ended;

static const struct crash_case {
	const char *kind;
	int signo;
	const char *name;
	bool sanitizable; /* is no fault of which the sanitizer reports, or dies */
} cases[] = {
	{ "null", SIGSEGV, "SIGSEGV", true },	   { "jump", SIGSEGV, "SIGSEGV", true },
	{ "stack", SIGSEGV, "SIGSEGV", true },	   { "division", SIGFPE, "SIGFPE", true },
	{ "instruction", SIGILL, "SIGILL", true }, { "bus", SIGBUS, "SIGBUS", true },
	{ "trap", SIGTRAP, "SIGTRAP", true },	   { "system-call", SIGSYS, "SIGSYS", true },
	{ "abort", SIGABRT, "SIGABRT", true },	   { "heap", SIGABRT, "SIGABRT", false },
	{ "memory", SIGABRT, "SIGABRT", false },   { "wild", SIGSEGV, "SIGSEGV", false },
};

static _Noreturn void execute(const char *kind, int output)
{
	char *argv[] = { (char *)"crashing", (char *)kind, NULL };

	(void)dup2(output, STDOUT_FILENO);
	(void)dup2(output, STDERR_FILENO);
	(void)setenv(CRASHING_VARIABLE, "1", 1);
	(void)execv("/proc/self/exe", argv);
	_exit(126);
}

/* Runs it as process 1 of a namespace.  The process before it exits as it does, with 128 and a signal. */
static _Noreturn void execute_as_init(const char *kind, int output)
{
	int status = 0;
	pid_t pid;

	if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
		_exit(REFUSED);
	pid = fork();
	if (pid == 0)
		execute(kind, output);
	(void)waitpid(pid, &status, 0);
	_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/* Its output is then in @out, its exit status, or 128 and the signal, in @ended. */
static void run_crash(const char *kind, bool as_init)
{
	size_t used = 0;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0 && as_init)
		execute_as_init(kind, fds[1]);
	if (pid == 0)
		execute(kind, fds[1]);
	(void)close(fds[1]);
	while ((n = read(fds[0], out + used, sizeof(out) - 1 - used)) > 0)
		used += (size_t)n;
	out[used] = '\0';
	(void)close(fds[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ended = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool is_refused(bool as_init)
{
	bool refused = as_init && ended == REFUSED;

	if (refused)
		(void)puts("# SKIP machine: no namespace of processes");
	return refused;
}

/* Output of libraries may come before. */
static void assert_output(const char *end)
{
	size_t size = strlen(out), n = strlen(end);

	ck_assert_msg(size >= n && strcmp(out + size - n, end) == 0, "'%s' instead of '%s'", out,
		      end);
}

static void assert_run(const char *kind, bool as_init, const char *output, int end)
{
	run_crash(kind, as_init);
	if (is_refused(as_init))
		return;
	assert_output(output);
	ck_assert_int_eq(ended, end);
}

static bool is_skipped(const struct crash_case *test)
{
	if (CRASHING_SANITIZED && !test->sanitizable)
		(void)printf("# SKIP sanitizer: reports the fault '%s' itself\n", test->kind);
	return CRASHING_SANITIZED && !test->sanitizable;
}

static void assert_goes_on(const struct crash_case *test, bool as_init)
{
	char expected[256];

	if (is_skipped(test))
		return;
	(void)snprintf(expected, sizeof(expected), GOING_ON("%s") "again %d 1\nok\n", test->name,
		       test->signo);
	assert_run(test->kind, as_init, expected, 0);
}

START_TEST(fault_leaves_process_and_children)
{
	assert_goes_on(&cases[_i], !AS_INIT);
}
END_TEST

START_TEST(fault_of_process_1_leaves_its_namespace)
{
	assert_goes_on(&cases[_i], AS_INIT);
}
END_TEST

START_TEST(standard_error_that_is_full_is_not_waited_for)
{
	assert_run("full", !AS_INIT, "again 11 1\nok\n", 0);
}
END_TEST

START_TEST(environment_of_any_size_is_passed_on)
{
	static char text[TEXT_SIZE];
	char name[16];

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < TEXTS; i++) {
		(void)snprintf(name, sizeof(name), "TEXT%d", i);
		ck_assert_int_eq(setenv(name, text, 1), 0);
	}
	assert_run("null", !AS_INIT, "again 11 1\nok\n", 0);
}
END_TEST

/* A parent such as sudo(8) may have forbidden cores, and this user may not allow them. */
static bool may_dump_core(void)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	bool may = setrlimit(RLIMIT_CORE, &limit) == 0 ||
		   (getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == RLIM_INFINITY);

	if (!may)
		(void)puts("# SKIP machine: its limit of cores cannot be raised");
	return may;
}

START_TEST(core_is_dumped_by_a_child)
{
	if (!may_dump_core())
		return;
	assert_run("core", !AS_INIT, "again 11 1\nok\n", 0);
}
END_TEST

START_TEST(child_that_has_not_executed_ends_by_its_fault)
{
	static const char *const kinds[] = { "forked", "in-memory" };

	assert_run(kinds[_i], !AS_INIT, "child 11, 0 crashes\n", 0);
}
END_TEST

/* --- the end --- */

START_TEST(sixth_crash_in_a_minute_is_the_end)
{
	char *at = out;
	int n = 0;

	run_crash("often", _i);
	if (is_refused(_i))
		return;
	while ((at = strstr(at, GOING_ON("SIGSEGV"))) != NULL)
		at++, n++;
	ck_assert_int_eq(n, 5);
	assert_output("again 11 5\nlast 0\n");
	ck_assert_int_eq(ended, 128 + SIGSEGV);
}
END_TEST

START_TEST(fault_without_history_is_the_end)
{
	assert_run("no-history", _i, "last 0\n", 128 + SIGSEGV);
}
END_TEST

START_TEST(fault_in_the_handler_ends_by_the_signal)
{
	assert_run("last-faults", _i, "last 0\n", 128 + SIGSEGV);
	assert_run("no-stack", _i, "", 128 + SIGSEGV);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("crash");
	TCase *tc = tcase_create("goes on");

	tcase_add_checked_fixture(tc, make_directory, remove_directory);
	tcase_add_loop_test(tc, fault_leaves_process_and_children, 0, ARRAY_SIZE(cases));
	tcase_add_loop_test(tc, fault_of_process_1_leaves_its_namespace, 0, ARRAY_SIZE(cases));
	tcase_add_test(tc, standard_error_that_is_full_is_not_waited_for);
	tcase_add_test(tc, environment_of_any_size_is_passed_on);
	tcase_add_test(tc, core_is_dumped_by_a_child);
	tcase_add_loop_test(tc, child_that_has_not_executed_ends_by_its_fault, 0, 2);
	suite_add_tcase(s, tc);

	/* As a process, and as process 1. */
	tc = tcase_create("end");
	tcase_add_checked_fixture(tc, make_directory, remove_directory);
	tcase_add_loop_test(tc, sixth_crash_in_a_minute_is_the_end, 0, 2);
	tcase_add_loop_test(tc, fault_without_history_is_the_end, 0, 2);
	tcase_add_loop_test(tc, fault_in_the_handler_ends_by_the_signal, 0, 2);
	suite_add_tcase(s, tc);

	return s;
}
