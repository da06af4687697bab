/*
 * Descendants are found, signalled and resumed wherever they have gone.  The calls of syscall(2) come by this
 * program, which changes a process just before its pidfd is opened.
 */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parse.h"
#include "sys/process/descendants.h"
#include "sys/process/proc.h"

static pid_t changed; /* before its pidfd is opened, change() is called once */
static void (*change)(void);

long __real_syscall(long number, long a, long b, long c, long d);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
	long a[4];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_pidfd_open && (pid_t)a[0] == changed) {
		changed = 0;
		change();
	}
	return __real_syscall(number, a[0], a[1], a[2], a[3]);
}

#define STAYING 3

/* Ends by itself, even if the test has failed. */
static void stay(void)
{
	(void)alarm(60);
	for (;;)
		(void)pause();
}

/* A chain of STAYING processes, each in a session of its own, and the middle one dead. */
static void add_chain(int report)
{
	for (int depth = 0; depth < STAYING; depth++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid > 0 && depth == 0)
			return;
		if (pid > 0 && depth == 1)
			_exit(0);
		if (pid > 0)
			stay();
		(void)setsid();
		pid = getpid();
		ck_assert_int_eq(write(report, &pid, sizeof(pid)), sizeof(pid));
	}
	stay();
}

static void count(pid_t pid, const char *name, void *arg)
{
	unsigned *n = arg;

	(void)pid;
	(void)name;
	(*n)++;
}

static unsigned living(const struct descendants *inherited)
{
	unsigned n = 0;

	ck_assert_int_eq(descendants_each(inherited, count, &n), 0);
	return n;
}

START_TEST(descendants_are_found_in_other_sessions)
{
	struct descendants inherited = { 0 };
	pid_t pids[STAYING];
	int report[2], status;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	ck_assert_uint_eq(living(NULL), 0);
	ck_assert_int_eq(pipe(report), 0);
	add_chain(report[1]);
	for (int i = 0; i < STAYING; i++)
		ck_assert_int_eq(read(report[0], &pids[i], sizeof(pids[i])), sizeof(pids[i]));
	ck_assert_int_eq(waitpid(pids[0], &status, 0), pids[0]);
	ck_assert_uint_eq(living(NULL), STAYING - 1);

	/* Inherited children are not descendants. */
	ck_assert_int_eq(descendants_inherit(&inherited), 0);
	ck_assert_uint_eq(inherited.n, STAYING - 1);
	ck_assert_uint_eq(living(&inherited), 0);
	descendants_signal(0, SIGKILL, &inherited);
	ck_assert_uint_eq(living(NULL), STAYING - 1);
	descendants_done(&inherited);

	descendants_signal(0, SIGKILL, NULL);
	while (wait(NULL) > 0)
		;
	ck_assert_uint_eq(living(NULL), 0);
}
END_TEST

/* The group of a leader that is gone is still its group. */
START_TEST(a_group_is_reached_without_its_leader)
{
	int up[2], status;
	char c;
	pid_t leader;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	ck_assert_int_eq(pipe(up), 0);
	leader = fork();
	ck_assert_int_ge(leader, 0);
	if (leader == 0) {
		(void)setpgid(0, 0);
		if (fork() > 0)
			_exit(0);
		(void)close(up[0]);
		if (write(up[1], "x", 1) == 1)
			stay();
		_exit(1);
	}
	ck_assert_int_eq(waitpid(leader, &status, 0), leader);
	(void)close(up[1]);
	ck_assert_int_eq(read(up[0], &c, 1), 1);
	descendants_signal(leader, SIGUSR1, NULL);
	ck_assert_int_eq(read(up[0], &c, 1), 0);
	ck_assert_int_gt(wait(&status), 0);
	ck_assert_int_eq(status, SIGUSR1);
	descendants_signal(leader, SIGUSR1, NULL); /* no process */
}
END_TEST

/* The bits of the signals that wait for @pid as a whole. */
static unsigned long long pending_of(pid_t pid)
{
	char text[4096], *line;

	ck_assert_int_eq(proc_read_text(pid, "status", text, sizeof(text)), 0);
	line = strstr(text, "\nShdPnd:\t");
	ck_assert_ptr_nonnull(line);
	return strtoull(line + strlen("\nShdPnd:\t"), NULL, 16);
}

#define SIGNAL_BIT(signo) (1ULL << ((signo)-1))

/* A child that blocks all signals, and is stopped if asked for. */
static pid_t add_deaf(bool stopped)
{
	siginfo_t info;
	sigset_t all;
	int up[2];
	char c;
	pid_t pid;

	ck_assert_int_eq(pipe(up), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)alarm(60);
		(void)sigfillset(&all);
		(void)sigdelset(&all, SIGALRM);
		(void)sigprocmask(SIG_SETMASK, &all, NULL);
		_exit(write(up[1], "x", 1) != 1 || pause());
	}
	ck_assert_int_eq(read(up[0], &c, 1), 1);
	(void)close(up[0]);
	(void)close(up[1]);
	if (stopped) {
		ck_assert_int_eq(kill(pid, SIGSTOP), 0);
		ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
	}
	return pid;
}

/* Any thread of the process may take it. */
START_TEST(signal_is_for_the_process_and_not_for_one_thread)
{
	pid_t pid = add_deaf(false);

	descendants_signal(0, SIGUSR1, NULL);
	ck_assert_uint_eq(pending_of(pid), SIGNAL_BIT(SIGUSR1));
	(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(only_stopped_descendants_are_resumed)
{
	pid_t running = add_deaf(false), stopped = add_deaf(true), inherited = add_deaf(true);
	const struct descendants before = { .pids = &inherited, .n = 1 };
	siginfo_t info = { 0 };

	descendants_resume(&before);
	ck_assert_int_eq(waitid(P_PID, (id_t)stopped, &info, WCONTINUED | WNOHANG), 0);
	ck_assert_int_eq(info.si_pid, stopped);
	ck_assert_uint_eq(pending_of(running), 0);
	ck_assert_uint_eq(pending_of(inherited), 0);
	(void)kill(running, SIGKILL);
	(void)kill(stopped, SIGKILL);
	(void)kill(inherited, SIGKILL);
	while (wait(NULL) > 0)
		;
}
END_TEST

/* --- changes while the signal is sent --- */

/* @parent has made @middle, and that has made @last; @parent takes the orphans and ignores SIGTERM. */
static struct {
	pid_t parent, middle, last;
} chain;

static void change_parent(void)
{
	struct proc_info info = { 0 };

	(void)kill(chain.middle, SIGKILL);
	for (int i = 0; i < 5000 && info.parent != chain.parent; i++) {
		(void)usleep(1000);
		ck_assert_int_eq(proc_read(chain.last, &info), 0);
	}
	ck_assert_int_eq(info.parent, chain.parent);
}

static _Noreturn void be_subreaper(int up)
{
	int status = 0;
	pid_t pid;

	chain.parent = getpid();
	(void)signal(SIGTERM, SIG_IGN);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	(void)alarm(60);
	if ((chain.middle = fork()) == 0) {
		(void)signal(SIGTERM, SIG_DFL);
		chain.middle = getpid();
		if ((chain.last = fork()) == 0) {
			chain.last = getpid();
			if (write(up, &chain, sizeof(chain)) == sizeof(chain))
				stay();
		}
		stay();
	}
	while ((pid = wait(&status)) == chain.middle)
		;
	_exit(write(up, &status, sizeof(status)) != sizeof(status));
}

START_TEST(process_with_a_new_parent_gets_the_signal)
{
	struct pollfd up = { .events = POLLIN };
	int fds[2], status;
	pid_t pid;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		be_subreaper(fds[1]);
	ck_assert_int_eq(read(fds[0], &chain, sizeof(chain)), sizeof(chain));
	changed = chain.last;
	change = change_parent;
	descendants_signal(0, SIGTERM, NULL);
	ck_assert_int_eq(changed, 0);
	up.fd = fds[0];
	ck_assert_int_eq(poll(&up, 1, 10000), 1);
	ck_assert_int_eq(read(fds[0], &status, sizeof(status)), sizeof(status));
	ck_assert_int_eq(status, SIGTERM);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* The pipes between the sender of the signal and the other process, which makes one with a used pid. */
static int asks[2], replies[2];
static pid_t reused;

static pid_t fork_as(pid_t pid)
{
	uint64_t args[11] = {
		[4] = SIGCHLD, [8] = (uintptr_t)&pid, [9] = 1
	}; /* set_tid, its size */

	return (pid_t)__real_syscall(SYS_clone3, (long)(uintptr_t)args, sizeof(args), 0, 0);
}

static void reuse_pid(void)
{
	char c;

	(void)kill(reused, SIGKILL);
	ck_assert_int_eq(waitpid(reused, NULL, 0), reused);
	ck_assert_int_eq(write(asks[1], "x", 1), 1);
	ck_assert_int_eq(read(replies[0], &c, 1), 1);
}

static _Noreturn void signal_during_reuse(void)
{
	reused = fork();
	if (reused == 0)
		stay();
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	ck_assert_int_eq(write(asks[1], &reused, sizeof(reused)), sizeof(reused));
	changed = reused;
	change = reuse_pid;
	descendants_signal(0, SIGKILL, NULL);
	_exit(changed != 0);
}

START_TEST(process_that_has_reused_a_pid_gets_no_signal)
{
	pid_t sender, other, pid;
	int status;
	char c;

	ck_assert_int_eq(pipe(asks), 0);
	ck_assert_int_eq(pipe(replies), 0);
	sender = fork();
	ck_assert_int_ge(sender, 0);
	if (sender == 0)
		signal_during_reuse();
	ck_assert_int_eq(read(asks[0], &pid, sizeof(pid)), sizeof(pid));
	ck_assert_int_eq(read(asks[0], &c, 1), 1);
	other = fork_as(pid);
	if (other == 0)
		stay();
	ck_assert_int_eq(write(replies[1], "x", 1), 1);
	ck_assert_int_eq(waitpid(sender, &status, 0), sender);
	ck_assert_int_eq(status, 0);
	if (other < 0) {
		(void)printf("# SKIP machine: no choice of a pid: %s\n", strerror(errno));
		return;
	}
	ck_assert_int_eq(waitpid(other, &status, WNOHANG), 0);
	(void)kill(other, SIGUSR1);
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	ck_assert_int_eq(status, SIGUSR1);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("descendants");
	TCase *tc = tcase_create("descendants");

	tcase_add_test(tc, descendants_are_found_in_other_sessions);
	tcase_add_test(tc, a_group_is_reached_without_its_leader);
	tcase_add_test(tc, signal_is_for_the_process_and_not_for_one_thread);
	tcase_add_test(tc, only_stopped_descendants_are_resumed);
	tcase_add_test(tc, process_with_a_new_parent_gets_the_signal);
	tcase_add_test(tc, process_that_has_reused_a_pid_gets_no_signal);
	suite_add_tcase(s, tc);
	return s;
}
