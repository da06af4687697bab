/*
 * Each test runs a program with a keeper, and compares its output and its end.  The program is in this file;
 * main(), which runs the tests, comes after it.
 */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/process/signals.h"
#include "sys/spawn/crash.h"
#include "sys/spawn/keeper.h"
#include "sys/spawn/spawn.h"

#define VARIABLE "TEST_KEEPER"
#define STATE_AT 4096 /* behind the history */
#define REFUSED	 77

extern char **environ;

/* --- the program --- */

static const char *kind;
static struct keeper keeper;
static struct {
	int child, input; /* it ends when it can read from its input */
} had;

static bool is(const char *name)
{
	return strcmp(kind, name) == 0;
}

static void say(const char *what, int value)
{
	(void)dprintf(STDOUT_FILENO, "%s %d\n", what, value);
}

static int expect(int r, const char *what)
{
	if (r < 0) {
		(void)dprintf(STDOUT_FILENO, "%s: %s\n", what, strerror(errno));
		_exit(3);
	}
	return r;
}

static void last(pid_t spared)
{
	say("last", spared);
}

static struct signalfd_siginfo await_signal(void)
{
	struct signalfd_siginfo info = { 0 };
	sigset_t all;
	int fd;

	(void)sigfillset(&all);
	fd = expect(signalfd(-1, &all, SFD_CLOEXEC), "signalfd");
	expect((int)read(fd, &info, sizeof(info)), "signal");
	(void)close(fd);
	return info;
}

/* A child that was started for the keeper. */
static void start_child(int history)
{
	char *argv[] = { (char *)"/bin/sh", (char *)"-c", (char *)"read -r line; exit 3", NULL };
	struct spawn_pool pool = { .siblings = true };
	struct spawn_failure failure;
	struct spawning s;
	sigset_t none;
	int fds[2], error;

	(void)sigemptyset(&none);
	expect(pipe2(fds, O_CLOEXEC), "pipe");
	expect(spawn_begin(
		       &(struct spawn_spec){
			       .argv = argv,
			       .envp = environ,
			       .umask = -1,
			       .stdio = { fds[0], STDOUT_FILENO, STDERR_FILENO },
			       .terminal = -1,
			       .mask = &none,
		       },
		       &pool, &s, &error),
	       "spawn");
	while (spawn_check(&s, &pool, &failure, &error) == SPAWN_E_PENDING)
		(void)sched_yield();
	(void)fcntl(fds[1], F_SETFD, 0);
	had.child = s.pid;
	had.input = fds[1];
	expect((int)pwrite(history, &had, sizeof(had), STATE_AT), "state");
}

static void on_reported(const struct reap_exit *exit, void *arg)
{
	(void)arg;
	if (exit->pid == had.child && kill(exit->pid, 0) == 0)
		say(exit->signaled ? "signal" : "exit", exit->value);
}

/* The child is in its hands until the reply. */
static void take_child(void)
{
	struct signalfd_siginfo info;
	int reaped = 0;

	if (!is("missed"))
		expect((int)write(had.input, "\n", 1), "input");
	while (reaped == 0) {
		info = await_signal();
		if (!keeper_take(&keeper, &info))
			continue;
		reaped = keeper.reported.pid == had.child;
		(void)keeper_reap(&keeper, on_reported, NULL);
	}
	do
		info = await_signal();
	while (!keeper_take(&keeper, &info));
	if (kill(had.child, 0) == 0)
		say("left", had.child);
}

static void arm(int history, enum crash_reason reason)
{
	const struct crash_plan plan = {
		.history = history,
		.argv = (char *[]){ (char *)"keeping", (char *)kind, NULL },
		.envp = environ,
		.last = last,
		.on_probation = reason == CRASH_REPLACED,
	};

	expect(crash_arm(&plan), "arm");
	expect(keeper_begin(&keeper), "keeper");
}

static _Noreturn void go_on(void)
{
	struct itimerval left = { .it_value.tv_sec = 0 };
	struct crash_history read;
	int history = expect(crash_take(&read), "history");

	arm(history, (enum crash_reason)read.reason);
	/* It is on probation, or not. */
	(void)getitimer(ITIMER_REAL, &left);
	if ((left.it_value.tv_sec > 0) != (read.reason == CRASH_REPLACED))
		say("alarm", (int)left.it_value.tv_sec);
	say("reason", (int)read.reason);
	if (is("often"))
		(void)raise(SIGKILL);
	expect((int)pread(history, &had, sizeof(had), STATE_AT), "state");
	take_child();
	if (is("chosen") && read.reason == CRASH_REPLACED) {
		start_child(history);
		(void)raise(SIGKILL);
	}
	_exit(7);
}

static _Noreturn void begin(void)
{
	struct signals was;
	int history;

	signals_take_over(&was);
	history = expect(crash_history_new(&was), "history");
	crash_history_spare(history, 17);
	arm(history, CRASH_NONE);
	start_child(history);
	if (is("passed")) {
		(void)kill(keeper.reaper, SIGTERM);
		say("signal", (int)await_signal().ssi_signo);
		take_child();
		_exit(7);
	}
	if (is("several")) {
		for (int i = 0; i < 3; i++) {
			take_child();
			start_child(history);
		}
		take_child();
		_exit(7);
	}
	/* It is killed between an exit and its reply to that. */
	if (is("missed")) {
		expect((int)write(had.input, "\n", 1), "input");
		while (await_signal().ssi_signo != (uint32_t)KEEPER_SIGNAL)
			;
	}
	if (is("keeper"))
		(void)kill(keeper.reaper, SIGKILL);
	if (is("chosen"))
		(void)crash_replace(open("/proc/self/exe", O_PATH | O_CLOEXEC), "1");
	if (is("fault"))
		(void)raise(SIGSEGV);
	(void)raise(is("keeper") ? SIGSTOP : SIGKILL);
	_exit(3);
}

static __attribute__((constructor)) void run_program(int argc, char **argv)
{
	if (argc < 2 || !getenv(VARIABLE))
		return;
	kind = argv[1];
	if (getenv(CRASH_VARIABLE))
		go_on();
	begin();
}

/* --- the tests --- */

static char out[4096];
static int ended;

static _Noreturn void execute(const char *name, int output)
{
	char *argv[] = { (char *)"keeping", (char *)name, NULL };

	(void)dup2(output, STDOUT_FILENO);
	(void)dup2(output, STDERR_FILENO);
	(void)setenv(VARIABLE, "1", 1);
	(void)execv("/proc/self/exe", argv);
	_exit(126);
}

/* The end of the output is that of all its processes. */
static void run(const char *name, bool as_init)
{
	size_t used = 0;
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0 && as_init) {
		if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
			_exit(REFUSED);
		pid = fork();
		if (pid == 0)
			execute(name, fds[1]);
		(void)waitpid(pid, &status, 0);
		_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	}
	if (pid == 0)
		execute(name, fds[1]);
	(void)close(fds[1]);
	while ((n = read(fds[0], out + used, sizeof(out) - 1 - used)) > 0)
		used += (size_t)n;
	out[used] = '\0';
	(void)close(fds[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ended = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void assert_run(const char *name, bool as_init, const char *output, int end)
{
	run(name, as_init);
	if (as_init && ended == REFUSED) {
		(void)puts("# SKIP machine: no namespace of processes");
		return;
	}
	ck_assert_str_eq(out, output);
	ck_assert_int_eq(ended, end);
}

START_TEST(killed_program_goes_on_with_its_children_and_its_status)
{
	assert_run("killed", _i, "reason 1\nexit 3\n", 7);
}
END_TEST

START_TEST(exit_without_a_reply_is_reported_again)
{
	assert_run("missed", _i, "reason 1\nexit 3\n", 7);
}
END_TEST

START_TEST(fault_is_noted_and_ends_the_program)
{
	assert_run("fault", _i, "swansongd: SIGSEGV: executing it again\nreason 1\nexit 3\n", 7);
}
END_TEST

START_TEST(chosen_program_takes_over_and_the_one_before_it_goes_on_after_its_fault)
{
	assert_run("chosen", _i, "reason 3\nexit 3\nreason 4\nexit 3\n", 7);
}
END_TEST

START_TEST(signal_is_passed_on)
{
	assert_run("passed", _i, "signal 15\nexit 3\n", 7);
}
END_TEST

START_TEST(exit_of_each_child_is_reported)
{
	assert_run("several", _i, "exit 3\nexit 3\nexit 3\nexit 3\n", 7);
}
END_TEST

START_TEST(end_of_the_keeper_is_that_of_the_program)
{
	assert_run("keeper", false, "", 128 + SIGKILL);
}
END_TEST

START_TEST(sixth_end_in_a_minute_is_the_last)
{
	assert_run("often", _i, "reason 1\nreason 1\nreason 1\nreason 1\nreason 1\nlast 17\n",
		   128 + SIGKILL);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("keeper");
	TCase *tc = tcase_create("keeper");

	tcase_add_loop_test(tc, killed_program_goes_on_with_its_children_and_its_status, 0, 2);
	tcase_add_loop_test(tc, exit_without_a_reply_is_reported_again, 0, 2);
	tcase_add_loop_test(tc, fault_is_noted_and_ends_the_program, 0, 2);
	tcase_add_loop_test(
		tc, chosen_program_takes_over_and_the_one_before_it_goes_on_after_its_fault, 0, 2);
	tcase_add_loop_test(tc, signal_is_passed_on, 0, 2);
	tcase_add_loop_test(tc, exit_of_each_child_is_reported, 0, 2);
	tcase_add_test(tc, end_of_the_keeper_is_that_of_the_program);
	tcase_add_loop_test(tc, sixth_end_in_a_minute_is_the_last, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
