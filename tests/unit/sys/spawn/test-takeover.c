/*
 * Another program takes over, or rehearses it.  Each test begins in the process of the test; what takes over is
 * this program again, which prints what it finds before main(), which runs the tests.
 */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "sys/process/signals.h"
#include "sys/spawn/crash.h"
#include "tests/unit/sys/spawn/limits.h"

#define VARIABLE "TEST_TAKEOVER"
#define KEPT	 150 /* a descriptor that a rehearsal keeps */

extern char **environ;

static const char *kind = "";

static bool is(const char *name)
{
	return strcmp(kind, name) == 0;
}

static int arm(int history, enum crash_reason reason)
{
	const struct crash_plan plan = {
		.history = history,
		.argv = (char *[]){ (char *)"takeover", (char *)kind, NULL },
		.envp = environ,
		.on_probation = reason == CRASH_REPLACED,
	};

	return crash_arm(&plan);
}

static bool has_alarm(void)
{
	struct itimerval left = { .it_value.tv_sec = 0 };

	(void)getitimer(ITIMER_REAL, &left);
	return (left.it_value.tv_sec > 0 || left.it_value.tv_usec > 0) &&
	       left.it_value.tv_sec <= (time_t)(SETTLE_USEC / USEC_PER_SEC);
}

static bool is_blocked(int signo)
{
	sigset_t mask;

	return sigprocmask(SIG_SETMASK, NULL, &mask) == 0 && sigismember(&mask, signo) == 1;
}

/* --- the program that takes over --- */

static _Noreturn void be_rehearsal(const struct crash_history *read, int history)
{
	struct crash_history changed = *read;

	changed.n = 77;
	(void)dprintf(STDOUT_FILENO, "rehearsal %d, %d faults, %s\n", (int)read->reason,
		      (int)read->n, getenv(CRASH_REHEARSAL_VARIABLE) ? "still" : "once");
	(void)dprintf(STDOUT_FILENO, "kept %d, other %d\n", fcntl(KEPT, F_GETFD) >= 0,
		      fcntl(KEPT + 1, F_GETFD) >= 0);
	_exit(pwrite(history, &changed, sizeof(changed), 0) != sizeof(changed));
}

static void report_takeover(const struct crash_history *read, int history)
{
	(void)dprintf(STDOUT_FILENO, "reason %d, version %.*s, alarm %d, blocked %d\n",
		      (int)read->reason, CRASH_VERSION_MAX, read->version, has_alarm(),
		      is_blocked(SIGTERM) && is_blocked(SIGALRM));
	(void)dprintf(STDOUT_FILENO, "limits %d, history %d, former %d\n", limits_are(1),
		      fcntl(history, F_GETFD) == FD_CLOEXEC,
		      read->reason == CRASH_REPLACED && fcntl(read->former, F_GETFD) == FD_CLOEXEC);
}

static void settle(void)
{
	(void)dprintf(STDOUT_FILENO, "alarm %d %d, ", has_alarm(), !is_blocked(SIGALRM));
	crash_settle();
	(void)dprintf(STDOUT_FILENO, "then %d %d\n", has_alarm(), !is_blocked(SIGALRM));
}

static __attribute__((constructor)) void run_program(int argc, char **argv)
{
	struct crash_history read;
	int history;

	if (argc < 2 || !getenv(VARIABLE))
		return;
	kind = argv[1];
	history = crash_take(&read);
	if (history < 0)
		_exit(3);
	if (read.reason == CRASH_REHEARSAL)
		be_rehearsal(&read, history);
	report_takeover(&read, history);
	if (read.reason == CRASH_UNDONE) {
		(void)dprintf(STDOUT_FILENO, "signal %d\n", (int)crash_latest(&read)->signo);
		_exit(0);
	}
	if (arm(history, (enum crash_reason)read.reason) < 0)
		_exit(4);
	if (is("fault"))
		(void)raise(SIGSEGV);
	if (is("alarm"))
		(void)raise(SIGALRM);
	settle();
	_exit(0);
}

/* --- the program before it --- */

static char out[1024];

/* Runs @begin in a process of its own; its output is then in @out.  Returns its exit status. */
static int run(const char *name, void (*begin)(void))
{
	size_t used = 0;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	kind = name;
	ck_assert_int_eq(setenv(VARIABLE, "1", 1), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)dup2(fds[1], STDOUT_FILENO);
		(void)dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
		begin();
		_exit(99);
	}
	(void)close(fds[1]);
	while ((n = read(fds[0], out + used, sizeof(out) - 1 - used)) > 0)
		used += (size_t)n;
	out[used] = '\0';
	(void)close(fds[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int open_program(void)
{
	return open("/proc/self/exe", O_PATH | O_CLOEXEC);
}

static int new_history(void)
{
	struct signals was = { 0 };
	int history;

	history = crash_history_new(&was);
	ck_assert_int_ge(history, 0);
	return history;
}

static void begin_replaced(void)
{
	int history = new_history();

	ck_assert_int_eq(limits_set(1), 0);
	ck_assert_int_eq(arm(history, CRASH_NONE), 0);
	ck_assert_int_eq(limits_set(2), 0);
	(void)crash_replace(open_program(), "1.2");
}

#define TAKEN_OVER                                    \
	"reason 3, version 1.2, alarm 1, blocked 1\n" \
	"limits 1, history 1, former 1\n"

START_TEST(program_that_takes_over_is_on_probation_until_it_is_at_work)
{
	ck_assert_int_eq(run("settle", begin_replaced), 0);
	ck_assert_str_eq(out, TAKEN_OVER "alarm 1 1, then 0 0\n");
}
END_TEST

/* A fault, or the alarm. */
START_TEST(program_before_goes_on_if_its_successor_fails)
{
	static const struct {
		const char *name;
		int signo;
	} kinds[] = { { "fault", SIGSEGV }, { "alarm", SIGALRM } };
	char expected[256];

	(void)snprintf(expected, sizeof(expected),
		       TAKEN_OVER "reason 4, version 1.2, alarm 1, blocked 1\n"
				  "limits 1, history 1, former 0\nsignal %d\n",
		       kinds[_i].signo);
	ck_assert_int_eq(run(kinds[_i].name, begin_replaced), 0);
	ck_assert_str_eq(out, expected);
}
END_TEST

static void read_whole(int history, char bytes[static 4096])
{
	memset(bytes, 0, 4096);
	ck_assert_int_gt(pread(history, bytes, 4096, 0), 0);
}

/* Descriptors that an exec leaves open. */
static unsigned count_inherited(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) == 0;
	return n;
}

START_TEST(refused_program_changes_nothing)
{
	int history = new_history(), program = open("/dev/null", O_PATH | O_CLOEXEC);
	char before[4096], after[4096];
	unsigned inherited;
	sigset_t one, mask;

	(void)sigemptyset(&one);
	(void)sigaddset(&one, SIGUSR1);
	ck_assert_int_eq(limits_set(1), 0);
	ck_assert_int_eq(arm(history, CRASH_NONE), 0);
	ck_assert_int_eq(limits_set(2), 0);
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, &one, NULL), 0);
	read_whole(history, before);
	inherited = count_inherited();
	ck_assert_int_eq(crash_replace(program, "1.2"), -EACCES);
	read_whole(history, after);
	ck_assert_int_eq(memcmp(before, after, sizeof(before)), 0);
	ck_assert(limits_are(2));
	ck_assert(!has_alarm());
	ck_assert_int_eq(sigprocmask(SIG_SETMASK, NULL, &mask), 0);
	ck_assert_int_eq(memcmp(&mask, &one, 8), 0);
	ck_assert_int_eq(fcntl(history, F_GETFD), FD_CLOEXEC);
	ck_assert_uint_eq(count_inherited(), inherited);
}
END_TEST

START_TEST(without_a_history_no_program_takes_over)
{
	int history = open("/dev/null", O_RDWR | O_CLOEXEC);

	ck_assert_int_eq(arm(history, CRASH_NONE), 0);
	ck_assert_int_eq(crash_replace(open_program(), "1.2"), -EBADMSG);
	ck_assert(!has_alarm());
	ck_assert(!is_blocked(SIGTERM));
}
END_TEST

static int rehearsed;

static void begin_rehearsal(void)
{
	(void)dup2(STDOUT_FILENO, KEPT);
	(void)dup2(STDOUT_FILENO, KEPT + 1);
	(void)crash_rehearse(open_program(), is("keeps") ? KEPT : -1);
}

/* It has a copy of the history. */
START_TEST(rehearsal_has_copies)
{
	struct crash_history read;

	rehearsed = new_history();
	ck_assert_int_eq(arm(rehearsed, CRASH_NONE), 0);
	ck_assert_int_eq(run("", begin_rehearsal), 0);
	ck_assert_str_eq(out, "rehearsal 2, 0 faults, once\nkept 0, other 0\n");
	ck_assert_int_eq(run("keeps", begin_rehearsal), 0);
	ck_assert_str_eq(out, "rehearsal 2, 0 faults, once\nkept 1, other 0\n");
	ck_assert_int_eq(crash_history_read(rehearsed, &read), 0);
	ck_assert_uint_eq(read.n, 0);
	ck_assert_uint_eq(read.reason, CRASH_NONE);
}
END_TEST

/* --- the history --- */

static int take_from(const char *variable, struct crash_history *ret)
{
	ck_assert_int_eq(setenv(CRASH_VARIABLE, variable, 1), 0);
	return crash_take(ret);
}

START_TEST(history_of_another_kind_is_refused)
{
	struct crash_history good, bad[3], read;
	int history = new_history();
	char number[16];

	(void)snprintf(number, sizeof(number), "%d", history);
	ck_assert_int_eq(crash_history_read(history, &good), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		bad[i] = good;
	bad[0].magic++;
	bad[1].format++;
	bad[2].size--;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_gt(pwrite(history, &bad[i], sizeof(bad[i]), 0), 0);
		ck_assert_int_eq(take_from(number, &read), -EBADMSG);
		ck_assert_uint_eq(read.reason, CRASH_NONE);
	}
	ck_assert_int_gt(pwrite(history, &good, sizeof(good), 0), 0);
	ck_assert_int_eq(take_from("x", &read), -EBADMSG);
	ck_assert_int_eq(take_from("-1", &read), -EBADMSG);
	ck_assert_int_eq(take_from("999", &read), -EBADMSG);
	ck_assert_int_eq(take_from(number, &read), history);
	ck_assert_ptr_null(getenv(CRASH_VARIABLE));
	ck_assert_int_eq(crash_take(&read), -ENOENT);
	ck_assert_int_eq(ftruncate(history, sizeof(good) - 1), 0);
	ck_assert_int_eq(crash_history_read(history, &read), -EBADMSG);
}
END_TEST

START_TEST(history_has_the_latest_faults_and_the_spared_child)
{
	struct crash_history read;
	int history = new_history();

	crash_history_spare(history, 4711);
	ck_assert_int_eq(crash_history_read(history, &read), 0);
	ck_assert_int_eq(read.spared, 4711);
	for (read.n = 1; read.n <= 3 * CRASHES_KEPT; read.n++)
		ck_assert_ptr_eq(crash_latest(&read), &read.last[(read.n - 1) % CRASHES_KEPT]);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("takeover");
	TCase *tc = tcase_create("takeover");

	tcase_add_test(tc, program_that_takes_over_is_on_probation_until_it_is_at_work);
	tcase_add_loop_test(tc, program_before_goes_on_if_its_successor_fails, 0, 2);
	tcase_add_test(tc, refused_program_changes_nothing);
	tcase_add_test(tc, without_a_history_no_program_takes_over);
	tcase_add_test(tc, rehearsal_has_copies);
	tcase_add_test(tc, history_of_another_kind_is_refused);
	tcase_add_test(tc, history_has_the_latest_faults_and_the_spared_child);
	suite_add_tcase(s, tc);
	return s;
}
