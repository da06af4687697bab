#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"
#include "sys/spawn/raw.h"
#include "tests/unit/fixtures/spawned.h"
#include "tests/unit/sys/spawn/test-spawn.h"

/*
 * All tests run in several modes: as usual, and without system calls that a kernel or sandbox may
 * lack.
 */

#define SIGNAL_BIT(signo) (1ull << ((signo)-1))

/*
 * From here on @number fails with @error; with @flags only if its first argument has one of them.
 */
static void refuse(unsigned number, unsigned flags, unsigned error)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, flags ? 3 : 1),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, flags, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_filter always[] = {
		program[0],
		program[1],
		program[4],
		program[5],
	};
	struct sock_fprog filter = {
		.len = flags ? ARRAY_SIZE(program) : ARRAY_SIZE(always),
		.filter = flags ? program : always,
	};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

static bool has_clone3(void)
{
	return syscall(SYS_clone3, NULL, 0) < 0 && errno != ENOSYS;
}

static void without_clone3(void)
{
	spawned_setup();
	refuse(SYS_clone3, 0, ENOSYS);
	ck_assert(!has_clone3());
}

/* Only with the flag of spawn(), which forks do not have. */
static void without_clone(void)
{
	spawned_setup();
	refuse(SYS_clone, CLONE_VM, EPERM);
	ck_assert_int_lt(syscall(SYS_clone, CLONE_VM | CLONE_VFORK, NULL, NULL, NULL, NULL), 0);
}

static void without_close_range(void)
{
	spawned_setup();
	refuse(SYS_close_range, 0, ENOSYS);
}

/* As a sandbox answers that was made before there was such a call. */
static void refused_close_range(void)
{
	spawned_setup();
	refuse(SYS_close_range, 0, EPERM);
}

/* --- the environment of a child --- */

START_TEST(the_exit_status_is_that_of_the_program)
{
	struct spawned s;

	spawned_init(&s);
	s.spec.argv = spawned_words("sh", "-c", "exit 7");
	ck_assert_int_eq(spawned_run(&s.spec), 7);
	s.spec.argv = spawned_words("sh", "-c", "kill -9 $$");
	ck_assert_int_eq(spawned_run(&s.spec), 128 + SIGKILL);
	spawned_done(&s);
}
END_TEST

START_TEST(the_program_gets_its_words_and_variables)
{
	char *const envp[] = { (char[]){ "PATH=/usr/bin:/bin" }, (char[]){ "WORD=a b" }, NULL };
	struct spawned s;

	spawned_init(&s);
	s.spec.envp = envp;
	s.spec.argv = spawned_words("sh", "-c", "test \"$WORD\" = 'a b' && test -z \"$HOME\"");
	ck_assert_int_eq(spawned_run(&s.spec), 0);
	spawned_done(&s);
}
END_TEST

START_TEST(the_environment_has_the_pid_of_the_child)
{
	char a[] = "A=..............", b[] = "B=..............";
	char *const envp[] = { (char[]){ "PATH=/usr/bin:/bin" }, a, b, NULL };
	struct spawned s;

	spawned_init(&s);
	s.spec.envp = envp;
	s.spec.pid_places[0] = a + 2;
	s.spec.pid_places[1] = b + 2;
	s.spec.argv = spawned_words("sh", "-c", "test \"$A\" = $$ && test \"$B\" = $$");
	ck_assert_int_eq(spawned_run(&s.spec), 0);
	spawned_done(&s);
}
END_TEST

START_TEST(the_pid_may_be_longer_than_the_word)
{
	char a[sizeof("A2345678901=") + SPAWN_PID_MAX] = "A2345678901=";
	char *const envp[] = { (char[]){ "PATH=/usr/bin:/bin" }, a, (char[]){ "B=next" }, NULL };
	struct spawned s;

	spawned_init(&s);
	s.spec.envp = envp;
	s.spec.pid_places[0] = a + strlen(a);
	s.spec.argv = spawned_words("sh", "-c", "test \"$A2345678901\" = $$ && test \"$B\" = next");
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(spawned_run(&s.spec), 0);
	spawned_done(&s);
}
END_TEST

START_TEST(the_umask_is_set_or_inherited)
{
	struct spawned s;

	(void)umask(0077);
	spawned_init(&s);
	spawned_start(&s);
	ck_assert_uint_eq(spawned_number(&s, "Umask", 8), 0077);
	spawned_done(&s);
	spawned_init(&s);
	s.spec.umask = 0027;
	spawned_start(&s);
	ck_assert_uint_eq(spawned_number(&s, "Umask", 8), 0027);
	ck_assert_uint_eq(umask(0), 0077);
	spawned_done(&s);
}
END_TEST

START_TEST(no_signal_is_blocked_in_the_child)
{
	struct spawned s;

	spawned_init(&s);
	spawned_start(&s);
	ck_assert_uint_eq(spawned_number(&s, "SigBlk", 16), 0);
	ck_assert_uint_eq(spawned_number(&s, "SigIgn", 16), 0);
	spawned_done(&s);
}
END_TEST

START_TEST(mask_and_ignored_signals_can_be_set)
{
	sigset_t mask, ignored;
	struct sigaction ours;
	struct spawned s;

	(void)sigemptyset(&mask);
	(void)sigaddset(&mask, SIGUSR1);
	(void)sigaddset(&mask, SIGRTMAX);
	(void)sigemptyset(&ignored);
	(void)sigaddset(&ignored, SIGPIPE);
	(void)sigaddset(&ignored, SIGHUP);
	spawned_init(&s);
	s.spec.mask = &mask;
	s.spec.ignored = &ignored;
	spawned_start(&s);
	ck_assert_uint_eq(spawned_number(&s, "SigBlk", 16),
			  SIGNAL_BIT(SIGUSR1) | SIGNAL_BIT(SIGRTMAX));
	ck_assert_uint_eq(spawned_number(&s, "SigIgn", 16),
			  SIGNAL_BIT(SIGPIPE) | SIGNAL_BIT(SIGHUP));
	/* The parent's signals are unchanged. */
	ck_assert_int_eq(sigaction(SIGPIPE, NULL, &ours), 0);
	ck_assert(ours.sa_handler == SIG_DFL);
	spawned_done(&s);
}
END_TEST

START_TEST(the_child_starts_in_its_directory)
{
	char link[SPAWNED_LINK_MAX];
	struct spawned s;

	spawned_init(&s);
	s.spec.directory = "/proc";
	spawned_start(&s);
	ck_assert_str_eq(spawned_link(link, s.pid, "cwd"), "/proc");
	spawned_done(&s);
}
END_TEST

START_TEST(without_processes_there_is_an_error)
{
	struct spawn_failure failure = { 0 };
	pid_t pid;
	struct spawned s;

	spawned_init(&s);
	refuse(SYS_clone, SIGCHLD, EAGAIN);
	refuse(SYS_clone3, 0, EAGAIN);
	ck_assert_int_eq(spawn(&s.spec, &pid, &failure), -EAGAIN);
	ck_assert_int_eq(failure.step, SPAWN_STEP_NONE);
	spawned_done(&s);
}
END_TEST

static void add_case(Suite *s, const char *name, SFun setup)
{
	TCase *tc = tcase_create(name);

	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, the_exit_status_is_that_of_the_program);
	tcase_add_test(tc, the_program_gets_its_words_and_variables);
	tcase_add_test(tc, the_environment_has_the_pid_of_the_child);
	tcase_add_test(tc, the_pid_may_be_longer_than_the_word);
	tcase_add_test(tc, the_umask_is_set_or_inherited);
	tcase_add_test(tc, no_signal_is_blocked_in_the_child);
	tcase_add_test(tc, mask_and_ignored_signals_can_be_set);
	tcase_add_test(tc, the_child_starts_in_its_directory);
	tcase_add_test(tc, without_processes_there_is_an_error);
	test_spawn_add_files(tc);
	test_spawn_add_terminals(tc);
	test_spawn_add_failures(tc);
	test_spawn_add_begin(tc);
	suite_add_tcase(s, tc);
}

Suite *test_suite(void)
{
	Suite *s = suite_create("spawn");

	add_case(s, "as it comes", spawned_setup);
	add_case(s, "without clone3", without_clone3);
	add_case(s, "without close_range", without_close_range);
	add_case(s, "with close_range refused", refused_close_range);
#if defined(__x86_64__) || defined(__aarch64__)
	if (SPAWN_SHARES_MEMORY && has_clone3())
		add_case(s, "with clone3 alone", without_clone);
#endif
	return s;
}
