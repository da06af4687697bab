/* The signals of a process, its files and its descriptors, as /proc has them. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "tests/unit/fixtures/spawned.h"
#include "sys/process/proc.h"

/* --- the effect of a signal --- */

static void on_signal(int signo)
{
	(void)signo;
}

static void reset_signals(void)
{
	sigset_t none;

	for (int signo = 1; signo <= SIGRTMAX; signo++)
		(void)signal(signo, SIG_DFL);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Two signals are the C library's: they are as the parent has left them. */
static bool is_signal(int signo)
{
	return signo >= 1 && signo <= SIGRTMAX && (signo < 32 || signo >= SIGRTMIN);
}

static void assert_default(int signo)
{
	if (is_signal(signo))
		ck_assert_msg(proc_would_end(getpid(), signo) ==
				      (signo != SIGCHLD && signo != SIGCONT && signo != SIGURG &&
				       signo != SIGWINCH),
			      "%d", signo);
}

START_TEST(signal_ends_a_process_that_leaves_it_alone)
{
	reset_signals();
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		assert_default(signo);
}
END_TEST

/* A signal that is caught, ignored or blocked; the ones beside it are as before. */
static void check_handled(int signo, int how)
{
	sigset_t one;

	reset_signals();
	(void)sigemptyset(&one);
	(void)sigaddset(&one, signo);
	if (how == 2)
		(void)sigprocmask(SIG_BLOCK, &one, NULL);
	else
		(void)signal(signo, how == 0 ? on_signal : SIG_IGN);
	ck_assert_msg(!proc_would_end(getpid(), signo), "%d, %d", signo, how);
	assert_default(signo - 1);
	assert_default(signo + 1);
}

START_TEST(handled_signal_does_not_end_its_process)
{
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		for (int how = 0; how < 3; how++)
			if (is_signal(signo) && signo != SIGKILL && signo != SIGSTOP)
				check_handled(signo, how);
}
END_TEST

/* --- processes --- */

/* The pid of a process that has ended. */
static pid_t gone(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	return pid;
}

START_TEST(process_that_has_ended_has_nothing)
{
	struct proc_info info;
	pid_t pid = gone();
	char text[64];
	uid_t uid;

	ck_assert_int_eq(proc_read_text(pid, "stat", text, sizeof(text)), -ENOENT);
	ck_assert_int_eq(proc_read(pid, &info), -ENOENT);
	ck_assert_int_eq(proc_uid(pid, &uid), -ENOENT);
	ck_assert_int_eq(proc_open(pid), -ESRCH);
	ck_assert(!proc_would_end(pid, SIGTERM));
}
END_TEST

/* Reads each dead process that comes from @pids until it is collected; exits with 1 if one was alive once. */
static _Noreturn void read_until_collected(int pids, int begun)
{
	struct proc_info info;
	pid_t pid;

	while (read(pids, &pid, sizeof(pid)) == sizeof(pid)) {
		(void)!write(begun, "", 1);
		while (proc_read(pid, &info) == 0)
			if (info.state != 'Z')
				_exit(1);
	}
	_exit(0);
}

/* Another process collects it meanwhile. */
START_TEST(dead_process_is_dead_until_it_is_collected)
{
	int pids[2], begun[2], status;
	siginfo_t info;
	pid_t reader;
	char byte;

	(void)signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe2(pids, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(begun, O_CLOEXEC), 0);
	reader = fork();
	if (reader == 0) {
		(void)close(pids[1]);
		read_until_collected(pids[0], begun[1]);
	}
	(void)close(pids[0]);
	(void)close(begun[1]);
	for (int i = 0; i < 1000; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
		if (write(pids[1], &pid, sizeof(pid)) < 0)
			break;
		ck_assert_int_eq(read(begun[0], &byte, 1), 1);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	}
	(void)close(pids[1]);
	ck_assert_int_eq(waitpid(reader, &status, 0), reader);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(beginning_of_a_file_ends_with_a_nul)
{
	char whole[64], part[8];

	memset(part, 'x', sizeof(part));
	ck_assert_int_eq(proc_read_text(getpid(), "comm", whole, sizeof(whole)), 0);
	ck_assert_int_eq(proc_read_text(getpid(), "comm", part, 5), 0);
	ck_assert_uint_eq(strlen(part), 4);
	ck_assert_int_eq(strncmp(whole, part, 4), 0);
	ck_assert_int_eq(part[5], 'x');
	ck_assert_int_eq(proc_read_text(getpid(), "no-such-file", whole, sizeof(whole)), -ENOENT);
	ck_assert_int_eq(proc_read_text(getpid(), "fd", whole, sizeof(whole)), -EISDIR);
}
END_TEST

/* The test is a fork of check. */
START_TEST(fork_has_executed_no_program)
{
	struct proc_info info;
	struct spawned s;

	spawned_setup();
	ck_assert_int_eq(proc_read(getpid(), &info), 0);
	ck_assert(!info.executed);
	ck_assert_uint_gt(info.memory, 0);
	spawned_init(&s);
	spawned_start(&s);
	ck_assert_int_eq(proc_read(s.pid, &info), 0);
	ck_assert(info.executed);
	ck_assert_str_eq(info.name, "cat");
	ck_assert_int_eq(info.parent, getpid());
	ck_assert_int_eq(info.group, s.pid);
	ck_assert_int_eq(info.session, s.pid);
	spawned_done(&s);
}
END_TEST

static uint64_t boot_clock(void)
{
	struct timespec now;

	ck_assert_int_eq(clock_gettime(CLOCK_BOOTTIME, &now), 0);
	return (uint64_t)now.tv_sec * USEC_PER_SEC + (uint64_t)now.tv_nsec / 1000;
}

START_TEST(age_is_the_time_since_the_start)
{
	struct proc_info info;

	ck_assert_int_eq(proc_read(getpid(), &info), 0);
	for (int i = 0; i < 10; i++) {
		uint64_t before = boot_clock(), age;

		ck_assert_int_eq(proc_age(getpid(), &age), 0);
		if (before < info.started_usec) /* within the first tick */
			continue;
		ck_assert_uint_ge(info.started_usec + age, before);
		ck_assert_uint_le(info.started_usec + age, boot_clock());
	}
}
END_TEST

START_TEST(pidfd_becomes_readable_at_the_end)
{
	struct pollfd p = { .events = POLLIN };
	struct spawned s;

	spawned_setup();
	spawned_init(&s);
	spawned_start(&s);
	p.fd = proc_open(s.pid);
	ck_assert_int_ge(p.fd, 0);
	ck_assert_int_eq(fcntl(p.fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	(void)kill(s.pid, SIGKILL);
	ck_assert_int_eq(poll(&p, 1, 10000), 1);
	(void)close(p.fd);
	spawned_done(&s);
}
END_TEST

/* --- lists --- */

struct looked_for {
	long number;
	int calls, found;
};

static int on_process(pid_t pid, void *arg)
{
	struct looked_for *l = arg;

	l->calls++;
	l->found += pid == l->number;
	return pid == l->number ? 7 : 0;
}

static int on_any(pid_t pid, void *arg)
{
	struct looked_for *l = arg;

	l->calls++;
	l->found += pid == l->number;
	return 0;
}

START_TEST(processes_are_listed_until_one_is_enough)
{
	struct looked_for own = { .number = getpid() }, all = own, none = { .number = gone() };

	ck_assert_int_eq(proc_each(on_process, &own), 7);
	ck_assert_int_eq(own.found, 1);
	ck_assert_int_eq(proc_each(on_any, &all), 0);
	ck_assert_int_eq(all.found, 1);
	ck_assert_int_ge(all.calls, 2); /* with the parent */
	ck_assert_int_eq(proc_each(on_process, &none), 0);
	ck_assert_int_eq(none.found, 0);
}
END_TEST

static int on_descriptor(int dir, const char *name, void *arg)
{
	struct looked_for *l = arg;
	char link[64];

	ck_assert_int_gt(readlinkat(dir, name, link, sizeof(link)), 0);
	l->calls++;
	l->found += strtol(name, NULL, 10) == l->number;
	return strtol(name, NULL, 10) == l->number ? 9 : 0;
}

START_TEST(descriptors_of_a_process_are_listed)
{
	struct looked_for first = { .number = 2 }, none = { .number = 9999 };
	struct spawned s;

	spawned_setup();
	spawned_init(&s);
	spawned_start(&s);
	ck_assert_int_eq(proc_each_descriptor(s.pid, on_descriptor, &none), 0);
	ck_assert_int_eq(none.calls, 3);
	ck_assert_int_eq(proc_each_descriptor(s.pid, on_descriptor, &first), 9);
	ck_assert_int_eq(first.found, 1);
	spawned_done(&s);
	ck_assert_int_eq(proc_each_descriptor(s.pid, on_descriptor, &none), -ENOENT);
}
END_TEST

static void on_pid(pid_t pid, void *arg)
{
	struct looked_for *l = arg;

	l->calls++;
	l->number = l->number * 1000 + pid;
}

static int file_of(const char *text)
{
	FILE *f = tmpfile();
	int fd;

	ck_assert_ptr_nonnull(f);
	(void)fputs(text, f);
	ck_assert_int_eq(fflush(f), 0);
	fd = dup(fileno(f));
	(void)fclose(f);
	return fd;
}

/* From its beginning, wherever the descriptor is. */
START_TEST(list_of_pids_is_read_from_its_beginning)
{
	struct looked_for l = { .number = 0 };
	int fd = file_of("12\n0\n345\n9\n"), pipe_[2];

	ck_assert_int_eq(proc_read_pids(fd, on_pid, &l), 0);
	ck_assert_int_eq(l.calls, 3);
	ck_assert_int_eq(l.number, 12345009);
	ck_assert_int_eq(proc_read_pids(fd, on_pid, &l), 0);
	ck_assert_int_eq(l.calls, 6);
	(void)close(fd);
	ck_assert_int_eq(proc_read_pids(fd, on_pid, &l), -EBADF);
	ck_assert_int_eq(pipe(pipe_), 0);
	ck_assert_int_eq(proc_read_pids(pipe_[0], on_pid, &l), -ESPIPE);
	fd = open("/", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(proc_read_pids(fd, on_pid, &l), -EISDIR);
	ck_assert_int_eq(l.calls, 6);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("proc");
	TCase *tc = tcase_create("proc");

	tcase_add_test(tc, signal_ends_a_process_that_leaves_it_alone);
	tcase_add_test(tc, handled_signal_does_not_end_its_process);
	tcase_add_test(tc, process_that_has_ended_has_nothing);
	tcase_add_test(tc, dead_process_is_dead_until_it_is_collected);
	tcase_add_test(tc, beginning_of_a_file_ends_with_a_nul);
	tcase_add_test(tc, fork_has_executed_no_program);
	tcase_add_test(tc, age_is_the_time_since_the_start);
	tcase_add_test(tc, pidfd_becomes_readable_at_the_end);
	tcase_add_test(tc, processes_are_listed_until_one_is_enough);
	tcase_add_test(tc, descriptors_of_a_process_are_listed);
	tcase_add_test(tc, list_of_pids_is_read_from_its_beginning);
	suite_add_tcase(s, tc);
	return s;
}
