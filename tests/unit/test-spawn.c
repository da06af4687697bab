#include "main.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/macro.h"
#include "spawned.h"
#include "test-spawn.h"

/* All tests are run as it comes, and where a sandbox or the kernel lacks a system call. */

#define SIGNAL_BIT(signo) (1ull << ((signo)-1))

/* From here on @number fails with @error; with @flags only if its first argument has one of them. */
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

/* Only as we would use it: a sanitizer makes threads of its own. */
static void without_clone(void)
{
	spawned_setup();
	refuse(SYS_clone, CLONE_VFORK, EPERM);
	ck_assert_int_lt(syscall(SYS_clone, CLONE_VFORK | CLONE_VM, NULL, NULL, NULL, NULL), 0);
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

/* --- what a child is given --- */

START_TEST(its_exit_is_that_of_the_program)
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

START_TEST(it_gets_its_words_and_variables)
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

/* A number that is not one of check's own descriptors. */
#define EXTRA 20

/* Every way in which four files can lie on the descriptors that they are to become. */
START_TEST(its_descriptors_arrive_from_any_order)
{
	static const int to[4] = { 0, 1, 2, EXTRA };
	int from[4], rest = _i, left[4] = { 0, 1, 2, EXTRA };
	char wanted[SPAWNED_LINK_MAX], got[SPAWNED_LINK_MAX], name[16];
	struct spawned s;
	int files[4];

	for (int i = 0; i < 4; i++) {
		int pick = rest % (4 - i);

		rest /= 4 - i;
		from[i] = left[pick];
		left[pick] = left[3 - i];
	}
	spawned_init(&s);
	files[0] = s.spec.stdio[0];
	files[1] = s.spec.stdio[1];
	for (int i = 2; i < 4; i++) {
		(void)snprintf(name, sizeof(name), "file %d", i);
		files[i] = fcntl(memfd_create(name, MFD_CLOEXEC), F_DUPFD_CLOEXEC, 40);
		ck_assert_int_ge(files[i], 0);
	}
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(dup2(files[i], from[i]), from[i]);
	memcpy(s.spec.stdio, from, sizeof(s.spec.stdio));
	spawned_file(&s, from[3], EXTRA);
	spawned_start(&s);
	for (int i = 0; i < 4; i++) {
		(void)snprintf(name, sizeof(name), "fd/%d", files[i]);
		spawned_link(wanted, getpid(), name);
		(void)snprintf(name, sizeof(name), "fd/%d", to[i]);
		ck_assert_str_eq(spawned_link(got, s.pid, name), wanted);
	}
	ck_assert_uint_eq(spawned_count_descriptors(s.pid), 4);
	spawned_done(&s);
}
END_TEST

START_TEST(one_file_may_become_several_descriptors)
{
	char in[SPAWNED_LINK_MAX], out[SPAWNED_LINK_MAX];
	struct spawned s;

	spawned_init(&s);
	s.spec.stdio[2] = s.spec.stdio[1];
	spawned_file(&s, s.spec.stdio[1], 9);
	spawned_start(&s);
	ck_assert_str_eq(spawned_link(in, s.pid, "fd/2"), spawned_link(out, s.pid, "fd/1"));
	ck_assert_str_eq(spawned_link(in, s.pid, "fd/9"), out);
	ck_assert_uint_eq(spawned_count_descriptors(s.pid), 4);
	spawned_done(&s);
}
END_TEST

START_TEST(it_gets_no_other_descriptor)
{
	static const int inherited[] = { 10, 11, EXTRA, 500 };
	struct spawned s;

	for (size_t i = 0; i < ARRAY_SIZE(inherited); i++)
		ck_assert_int_eq(dup2(2, inherited[i]), inherited[i]);
	spawned_init(&s);
	spawned_start(&s);
	ck_assert_uint_eq(spawned_count_descriptors(s.pid), 3);
	spawned_done(&s);

	/* A declared one leaves no gap around it. */
	spawned_init(&s);
	spawned_file(&s, EXTRA, EXTRA + 1);
	spawned_start(&s);
	ck_assert_uint_eq(spawned_count_descriptors(s.pid), 4);
	spawned_done(&s);
}
END_TEST

/* As many as there may be, each from where another one is to be. */
START_TEST(it_gets_as_many_files_as_it_is_to_have)
{
	static struct spawn_file files[SPAWN_FILES_MAX + 1];
	char wanted[SPAWNED_LINK_MAX], got[SPAWNED_LINK_MAX], name[16];
	struct spawn_failure failure;
	struct spawned s;
	pid_t pid;

	spawned_init(&s);
	for (int i = 0; i < SPAWN_FILES_MAX; i++) {
		int fd = memfd_create("file", MFD_CLOEXEC);

		files[i].from = fcntl(fd, F_DUPFD_CLOEXEC, 100);
		ck_assert_int_ge(files[i].from, 100);
		(void)close(fd);
	}
	/* With a gap in the middle. */
	for (int i = 0; i < SPAWN_FILES_MAX; i++)
		files[i].to = 99 + i + (i >= SPAWN_FILES_MAX / 2);
	s.spec.files = files;
	s.spec.n_files = SPAWN_FILES_MAX;
	spawned_start(&s);
	ck_assert_uint_eq(spawned_count_descriptors(s.pid), SPAWN_FILES_MAX + 3);
	for (int i = 0; i < SPAWN_FILES_MAX; i += 100) {
		(void)snprintf(name, sizeof(name), "fd/%d", files[i].from);
		spawned_link(wanted, getpid(), name);
		(void)snprintf(name, sizeof(name), "fd/%d", files[i].to);
		ck_assert_str_eq(spawned_link(got, s.pid, name), wanted);
	}
	s.spec.n_files++;
	ck_assert_int_eq(spawn(&s.spec, &pid, &failure), SPAWN_E_CHILD);
	ck_assert_int_eq(failure.error, E2BIG);
	spawned_done(&s);
}
END_TEST

START_TEST(it_finds_its_pid_in_its_environment)
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

/* It borrows our memory, and maybe our table of descriptors: what it does there is its own. */
START_TEST(our_descriptors_stay_as_they_are)
{
	struct spawn_failure failure;
	unsigned before;
	struct spawned s;
	char ours[SPAWNED_LINK_MAX], later[SPAWNED_LINK_MAX];
	pid_t pid;

	ck_assert_int_eq(dup2(2, 500), 500);
	spawned_init(&s);
	spawned_file(&s, EXTRA, EXTRA + 1);
	ck_assert_int_eq(dup2(2, EXTRA), EXTRA);
	spawned_link(ours, getpid(), "fd/0");
	before = spawned_count_descriptors(getpid());

	spawned_start(&s);
	ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);
	ck_assert_str_eq(spawned_link(later, getpid(), "fd/0"), ours);
	ck_assert_int_eq(fcntl(s.spec.stdio[0], F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(fcntl(EXTRA + 1, F_GETFD), -1);

	s.spec.directory = "/nonexistent";
	ck_assert_int_eq(spawn(&s.spec, &pid, &failure), SPAWN_E_CHILD);
	ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);
	ck_assert_str_eq(spawned_link(later, getpid(), "fd/0"), ours);
	spawned_done(&s);
}
END_TEST

START_TEST(its_umask_is_what_was_asked_for_or_ours)
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

START_TEST(its_signals_are_let_through)
{
	struct spawned s;

	spawned_init(&s);
	spawned_start(&s);
	ck_assert_uint_eq(spawned_number(&s, "SigBlk", 16), 0);
	ck_assert_uint_eq(spawned_number(&s, "SigIgn", 16), 0);
	spawned_done(&s);
}
END_TEST

START_TEST(its_mask_and_what_it_ignores_may_be_given)
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
	/* Ours are what they were. */
	ck_assert_int_eq(sigaction(SIGPIPE, NULL, &ours), 0);
	ck_assert(ours.sa_handler == SIG_DFL);
	spawned_done(&s);
}
END_TEST

START_TEST(it_leads_a_session_of_its_own)
{
	struct spawned s;

	spawned_init(&s);
	spawned_start(&s);
	ck_assert_int_eq(getsid(s.pid), s.pid);
	ck_assert_int_eq(getpgid(s.pid), s.pid);
	spawned_done(&s);
}
END_TEST

/*
 * A terminal is for who leads a session; check has made us lead a group, so it takes a child, which
 * ends well if @check does.
 */
static void try_in_child(void (*check)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		check();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/*
 * A terminal as standard input, after a session of our own has begun, whose it is but with O_NOCTTY.
 * Return: its other end.
 */
static int open_terminal(int flags)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int terminal;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master), 0);
	ck_assert_int_eq(unlockpt(master), 0);
	ck_assert_int_gt(setsid(), 0);
	terminal = open(ptsname(master), O_RDWR | O_CLOEXEC | flags);
	ck_assert_int_ge(terminal, 0);
	ck_assert_int_eq(dup2(terminal, STDIN_FILENO), STDIN_FILENO);
	return master;
}

static void check_foreground(void)
{
	struct spawned s;

	spawned_init(&s);
	(void)close(s.in);
	s.in = open_terminal(0);
	ck_assert_int_eq(tcgetpgrp(STDIN_FILENO), getpgrp());
	s.spec.stdio[0] = STDIN_FILENO;
	s.spec.keep_session = true;
	s.spec.terminal = STDIN_FILENO;
	spawned_start(&s);
	ck_assert_int_eq(getsid(s.pid), getpid());
	ck_assert_int_eq(getpgid(s.pid), s.pid);
	ck_assert_int_eq(tcgetpgrp(STDIN_FILENO), s.pid);
	spawned_done(&s);
}

START_TEST(in_the_foreground_it_has_the_terminal)
{
	try_in_child(check_foreground);
}
END_TEST

/* One of its own, which nobody has. */
static void check_terminal(void)
{
	struct spawned s;
	int master = open_terminal(O_NOCTTY);

	spawned_init(&s);
	s.spec.take_terminal = true;
	spawned_start(&s);
	ck_assert_int_eq(getsid(s.pid), s.pid);
	ck_assert_int_eq(tcgetsid(master), s.pid);
	ck_assert_int_eq(tcgetpgrp(master), s.pid);
	spawned_done(&s);
}

START_TEST(a_terminal_becomes_that_of_its_session)
{
	try_in_child(check_terminal);
}
END_TEST

START_TEST(what_is_no_terminal_cannot_become_one)
{
	struct spawn_failure failure = { 0 };
	struct spawned s;
	pid_t pid;

	spawned_init(&s);
	ck_assert_int_eq(dup2(s.spec.stdio[0], STDIN_FILENO), STDIN_FILENO);
	s.spec.take_terminal = true;
	ck_assert_int_eq(spawn(&s.spec, &pid, &failure), SPAWN_E_CHILD);
	ck_assert_int_eq(failure.step, SPAWN_STEP_TERMINAL);
	ck_assert_int_eq(failure.error, ENOTTY);
	ck_assert_int_gt(waitpid(-1, NULL, 0), 0);
	spawned_done(&s);
}
END_TEST

START_TEST(its_limit_of_descriptors_is_given_back)
{
	struct rlimit raised, given, got;
	struct spawned s;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &raised), 0);
	given = (struct rlimit){ .rlim_cur = 100, .rlim_max = raised.rlim_max };
	spawned_init(&s);
	s.spec.descriptors = &given;
	spawned_start(&s);
	ck_assert_int_eq(prlimit(s.pid, RLIMIT_NOFILE, NULL, &got), 0);
	ck_assert_uint_eq(got.rlim_cur, given.rlim_cur);
	ck_assert_uint_eq(got.rlim_max, given.rlim_max);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &got), 0);
	ck_assert_uint_eq(got.rlim_cur, raised.rlim_cur);
	spawned_done(&s);
}
END_TEST

START_TEST(it_begins_in_its_directory)
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
	refuse(SYS_clone, CLONE_VFORK, EAGAIN);
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
	tcase_add_test(tc, its_exit_is_that_of_the_program);
	tcase_add_test(tc, it_gets_its_words_and_variables);
	tcase_add_loop_test(tc, its_descriptors_arrive_from_any_order, 0, 24);
	tcase_add_test(tc, one_file_may_become_several_descriptors);
	tcase_add_test(tc, it_gets_no_other_descriptor);
	tcase_add_test(tc, it_gets_as_many_files_as_it_is_to_have);
	tcase_add_test(tc, it_finds_its_pid_in_its_environment);
	tcase_add_test(tc, our_descriptors_stay_as_they_are);
	tcase_add_test(tc, its_umask_is_what_was_asked_for_or_ours);
	tcase_add_test(tc, its_signals_are_let_through);
	tcase_add_test(tc, its_mask_and_what_it_ignores_may_be_given);
	tcase_add_test(tc, it_leads_a_session_of_its_own);
	tcase_add_test(tc, in_the_foreground_it_has_the_terminal);
	tcase_add_test(tc, a_terminal_becomes_that_of_its_session);
	tcase_add_test(tc, what_is_no_terminal_cannot_become_one);
	tcase_add_test(tc, its_limit_of_descriptors_is_given_back);
	tcase_add_test(tc, it_begins_in_its_directory);
	tcase_add_test(tc, without_processes_there_is_an_error);
	test_spawn_add_failures(tc);
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
	if (has_clone3())
		add_case(s, "with clone3 alone", without_clone);
#endif
	return s;
}
