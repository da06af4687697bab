#include "tests/unit/sys/spawn/test-spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/unit/fixtures/spawned.h"

static struct spawn_pool pool;

/* Waits for the outcome.  Return: as spawn_check(). */
static int settle(struct spawning *s, struct spawn_failure *failure)
{
	int error, r;

	do {
		struct pollfd p = { .fd = s->fd, .events = POLLIN };

		(void)poll(&p, 1, -1);
		r = spawn_check(s, &pool, failure, &error);
	} while (r == SPAWN_E_PENDING);
	return r;
}

static int status_of(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

START_TEST(the_child_reads_nothing_of_the_parent)
{
	char shell[] = "sh", program[] = "exit 7", path[] = "PATH=/usr/bin:/bin";
	char *argv[] = { shell, (char[]){ "-c" }, program, NULL };
	char *envp[] = { path, NULL };
	struct spawn_failure failure;
	struct spawning spawning;
	struct spawned s;
	int error;

	spawned_init(&s);
	s.spec.argv = argv;
	s.spec.envp = envp;
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(spawn_begin(&s.spec, &pool, &spawning, &error), 0);
		memset(program, 'x', sizeof(program) - 1);
		memset(path, 'x', sizeof(path) - 1);
		argv[0] = NULL;
		ck_assert_int_eq(settle(&spawning, &failure), 0);
		ck_assert_ptr_null(spawning.block);
		ck_assert_int_eq(status_of(spawning.pid), 7);
		memcpy(program, "exit 7", sizeof(program));
		memcpy(path, "PATH=/usr/bin:/bin", sizeof(path));
		argv[0] = shell;
	}
	spawned_done(&s);
	spawn_pool_done(&pool);
}
END_TEST

START_TEST(children_that_are_made_together_do_not_share_a_stack)
{
	struct spawn_failure failure;
	struct spawning spawning[40];
	struct spawned s;
	char number[8];
	int error;

	spawned_init(&s);
	for (int i = 0; i < 40; i++) {
		(void)snprintf(number, sizeof(number), "exit %d", i);
		s.spec.argv = spawned_words("sh", "-c", number);
		ck_assert_int_eq(spawn_begin(&s.spec, &pool, &spawning[i], &error), 0);
	}
	for (int i = 0; i < 40; i++) {
		ck_assert_int_eq(settle(&spawning[i], &failure), 0);
		ck_assert_int_eq(status_of(spawning[i].pid), i);
	}
	spawned_done(&s);
	spawn_pool_done(&pool);
}
END_TEST

/* The errno of the parent is its own, whatever fails in a child beside it. */
START_TEST(a_failing_child_leaves_errno_alone)
{
	struct spawn_failure failure;
	struct spawning spawning;
	struct spawned s;
	int error;

	spawned_init(&s);
	s.spec.argv = spawned_words("/nonexistent", NULL, NULL);
	for (int i = 0; i < 200; i++) {
		ck_assert_int_eq(spawn_begin(&s.spec, &pool, &spawning, &error), 0);
		errno = EXDEV;
		ck_assert_int_eq(status_of(spawning.pid), 127);
		ck_assert_int_eq(errno, EXDEV);
		ck_assert_int_eq(settle(&spawning, &failure), SPAWN_E_CHILD);
		ck_assert_int_eq(failure.step, SPAWN_STEP_EXEC);
	}
	spawned_done(&s);
	spawn_pool_done(&pool);
}
END_TEST

static void ended_by_handler(int signo)
{
	_exit(signo);
}

START_TEST(a_handler_of_the_parent_does_not_run_in_the_child)
{
	struct sigaction action = { .sa_handler = ended_by_handler };
	struct spawn_failure failure;
	struct spawning spawning;
	struct spawned s;
	int error, status;

	spawned_init(&s);
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	for (int i = 0; i < 100; i++) {
		ck_assert_int_eq(spawn_begin(&s.spec, &pool, &spawning, &error), 0);
		(void)kill(spawning.pid, SIGUSR1);
		ck_assert_int_eq(waitpid(spawning.pid, &status, 0), spawning.pid);
		ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1);
		(void)settle(&spawning, &failure);
	}
	spawned_done(&s);
	spawn_pool_done(&pool);
}
END_TEST

/* A file on which another process has a lease keeps the exec until the lease is given back. */
static int leased_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0700);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
	return fd;
}

static void await_lease_break(void)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGIO);
	ck_assert_int_eq(sigtimedwait(&set, NULL, &(struct timespec){ .tv_sec = 10 }), SIGIO);
}

START_TEST(before_its_program_runs_no_signal_makes_a_core)
{
	static const int signals[] = { SIGQUIT, SIGILL,	 SIGTRAP, SIGABRT, SIGBUS,
				       SIGFPE,	SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS };
	char path[] = "test-spawn-leased";
	struct spawn_failure failure;
	struct spawning spawning;
	struct spawned s;
	int error;

	spawned_init(&s);
	s.spec.argv = spawned_words("./test-spawn-leased", NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		int fd = leased_file(path);

		ck_assert_int_eq(spawn_begin(&s.spec, &pool, &spawning, &error), 0);
		await_lease_break();
		ck_assert_int_eq(spawn_step_of(&spawning), SPAWN_STEP_EXEC);
		(void)kill(spawning.pid, signals[i]);
		ck_assert_int_eq(status_of(spawning.pid), 128 + SIGKILL);
		ck_assert_int_eq(settle(&spawning, &failure), 0);
		(void)close(fd);
		(void)unlink(path);
	}
	spawned_done(&s);
	spawn_pool_done(&pool);
}
END_TEST

/* Until then its memory is in use, wherever the report is between its files. */
START_TEST(start_is_pending_until_the_program_runs)
{
	static const int to[] = { 0, 3, 10, 900 };
	char path[] = "test-spawn-leased";
	struct spawn_failure failure;
	struct spawning spawning;
	int error, fd;

	for (size_t i = 0; i < ARRAY_SIZE(to); i++) {
		struct spawned s;

		spawned_init(&s);
		s.spec.argv = spawned_words("./test-spawn-leased", NULL, NULL);
		if (to[i] > 0)
			spawned_file(&s, 2, to[i]);
		fd = leased_file(path);
		ck_assert_int_eq(spawn_begin(&s.spec, &pool, &spawning, &error), 0);
		await_lease_break();
		ck_assert_int_eq(spawn_check(&spawning, &pool, &failure, &error), SPAWN_E_PENDING);
		ck_assert_int_eq(spawn_step_of(&spawning), SPAWN_STEP_EXEC);
		(void)close(fd);
		ck_assert_int_eq(settle(&spawning, &failure), SPAWN_E_CHILD);
		ck_assert_int_eq(failure.error, ENOEXEC);
		ck_assert_int_eq(status_of(spawning.pid), 126);
		(void)unlink(path);
		spawned_done(&s);
	}
	spawn_pool_done(&pool);
}
END_TEST

START_TEST(a_program_handles_no_signal_and_ignores_those_of_the_parent)
{
	struct spawned s;

	(void)signal(SIGQUIT, SIG_IGN);
	spawned_init(&s);
	spawned_start(&s);
	ck_assert_uint_eq(spawned_number(&s, "SigCgt", 16), 0);
	ck_assert_uint_eq(spawned_number(&s, "SigIgn", 16), 1ULL << (SIGQUIT - 1));
	spawned_done(&s);
}
END_TEST

START_TEST(without_a_descriptor_the_end_settles_the_start)
{
	struct spawn_failure failure;
	struct spawning spawning;
	struct rlimit limit;
	struct spawned s;
	int error;

	spawned_init(&s);
	s.spec.argv = spawned_words("sh", "-c", "exit 9");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	s.spec.descriptors = &(struct rlimit){ limit.rlim_cur, limit.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, limit.rlim_max }), 0);
	s.spec.keep_descriptors = true;
	ck_assert_int_eq(spawn_begin(&s.spec, &pool, &spawning, &error), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(spawning.fd, -1);
	ck_assert_int_eq(spawn_step_of(&spawning), SPAWN_STEP_NONE);
	ck_assert_int_eq(status_of(spawning.pid), 9);
	ck_assert_int_eq(spawn_check(&spawning, &pool, &failure, &error), 0);
	spawned_done(&s);
	spawn_pool_done(&pool);
}
END_TEST

/* On one processor, where it hardly takes a step before. */
START_TEST(the_outcome_of_a_child_that_is_killed_at_once_is_known)
{
	struct spawn_failure failure;
	struct spawning spawning;
	struct spawned s;
	cpu_set_t one;
	int error;

	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
	spawned_init(&s);
	s.spec.argv = spawned_words("sh", "-c", "exit 7");
	for (int i = 0; i < 50; i++) {
		ck_assert_int_eq(spawn_begin(&s.spec, &pool, &spawning, &error), 0);
		(void)kill(spawning.pid, SIGKILL);
		(void)status_of(spawning.pid);
		spawn_note_death(&spawning);
		ck_assert_int_ne(spawn_check(&spawning, &pool, &failure, &error), SPAWN_E_PENDING);
		ck_assert_ptr_null(spawning.block);
		ck_assert_int_eq(spawn_begin(&s.spec, &pool, &spawning, &error), 0);
		ck_assert_int_eq(settle(&spawning, &failure), 0);
		ck_assert_int_eq(status_of(spawning.pid), 7);
	}
	spawned_done(&s);
	spawn_pool_done(&pool);
}
END_TEST

/* The parent may close and open what it likes at once. */
START_TEST(a_child_has_what_it_was_given_and_no_more)
{
	struct spawn_failure failure;
	struct spawning spawning;
	struct spawned s;
	int error, given[2], other;
	char c;

	spawned_init(&s);
	s.spec.argv = spawned_words("sh", "-c", "echo >&9; test ! -e /proc/self/fd/8");
	for (int i = 0; i < 50; i++) {
		struct spawn_file file = { .to = 9 };

		ck_assert_int_eq(pipe2(given, O_CLOEXEC), 0);
		file.from = given[1];
		s.spec.files = &file;
		s.spec.n_files = 1;
		ck_assert_int_eq(spawn_begin(&s.spec, &pool, &spawning, &error), 0);
		(void)close(given[1]);
		other = open("/dev/null", O_RDONLY);
		ck_assert_int_eq(read(given[0], &c, 1), 1);
		ck_assert_int_eq(settle(&spawning, &failure), 0);
		ck_assert_int_eq(status_of(spawning.pid), 0);
		(void)close(other);
		(void)close(given[0]);
	}
	s.spec.n_files = 0;
	spawned_done(&s);
	spawn_pool_done(&pool);
}
END_TEST

void test_spawn_add_begin(TCase *tc)
{
	tcase_add_test(tc, the_child_reads_nothing_of_the_parent);
	tcase_add_test(tc, children_that_are_made_together_do_not_share_a_stack);
	tcase_add_test(tc, a_failing_child_leaves_errno_alone);
	tcase_add_test(tc, a_handler_of_the_parent_does_not_run_in_the_child);
	tcase_add_test(tc, before_its_program_runs_no_signal_makes_a_core);
	tcase_add_test(tc, start_is_pending_until_the_program_runs);
	tcase_add_test(tc, a_program_handles_no_signal_and_ignores_those_of_the_parent);
	tcase_add_test(tc, without_a_descriptor_the_end_settles_the_start);
	tcase_add_test(tc, the_outcome_of_a_child_that_is_killed_at_once_is_known);
	tcase_add_test(tc, a_child_has_what_it_was_given_and_no_more);
}
