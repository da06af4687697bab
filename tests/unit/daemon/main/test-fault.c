/* The end of the daemon after too many faults, in a process of its own. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/main/fault.h"
#include "sys/spawn/crash.h"

static struct crash_plan plan;

int __wrap_crash_arm(const struct crash_plan *armed);
int __wrap_crash_arm(const struct crash_plan *armed)
{
	plan = *armed;
	return 0;
}

static pid_t make_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	return pid;
}

/* As the logger: it ends when the daemon has closed the pipes of the services. */
static pid_t make_logger(int *pipe)
{
	pid_t pid;

	if (pipe2(pipe, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		char byte;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close(pipe[1]);
		_exit(read(pipe[0], &byte, 1) == 0 ? 0 : 1);
	}
	return pid;
}

/* Returns 0, or the number of the promise that does not hold. */
static int end_with_logger(bool with_logger)
{
	pid_t child = make_child(), other = make_child(), logger = 0;
	int pipe[2] = { -1, -1 };

	if (child < 0 || other < 0)
		return 1;
	if (with_logger && (logger = make_logger(pipe)) < 0)
		return 2;
	plan.last(logger);
	/* All have been killed, and collected. */
	if (kill(child, 0) == 0 || kill(other, 0) == 0)
		return 3;
	if (!with_logger)
		return 0;
	/* The logger has got the end of its input, and was waited for. */
	if (fcntl(pipe[1], F_GETFD) >= 0)
		return 4;
	return waitpid(logger, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : 5;
}

static int status_of(pid_t pid)
{
	int status = -1;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void begin_faults(struct log *log)
{
	static char name[] = "swansongd", *argv[] = { name, NULL };
	struct crash_history history;
	struct signals signals;
	int file;

	fault_begin(&signals, argv, log, &file, &history);
	ck_assert_int_eq(history.reason, CRASH_NONE);
	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(plan.history, file);
	ck_assert_ptr_nonnull(plan.last);
}

START_TEST(last_fault_kills_all_and_waits_for_the_logger)
{
	struct log log = { .fd = -1, .level = LOG_EMERG, .name = "test" };
	pid_t pid;

	if (access("/proc/thread-self/children", R_OK) < 0) {
		(void)puts("# SKIP machine: Linux has no list of children");
		return;
	}
	begin_faults(&log);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(end_with_logger(_i > 0));
	ck_assert_int_eq(status_of(pid), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("fault");
	TCase *tc = tcase_create("fault");

	tcase_add_loop_test(tc, last_fault_kills_all_and_waits_for_the_logger, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
