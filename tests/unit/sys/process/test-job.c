/*
 * A command as a job of a terminal.  Each test runs in a process that leads a session with a terminal of its own,
 * which takes the part of the program or that of the shell.
 */
#include "tests/unit/fixtures/main.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/macro.h"
#include "sys/process/job.h"

#define TERMINAL STDIN_FILENO

static void open_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), terminal;

	ck_assert_int_ge(master, 0);
	ck_assert_int_eq(grantpt(master), 0);
	ck_assert_int_eq(unlockpt(master), 0);
	ck_assert_int_gt(setsid(), 0);
	terminal = open(ptsname(master), O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(terminal, 0);
	ck_assert_int_eq(dup2(terminal, TERMINAL), TERMINAL);
	ck_assert_int_eq(tcgetpgrp(TERMINAL), getpgrp());
}

static void set_mask(bool blocked)
{
	sigset_t mask;

	(void)(blocked ? sigfillset(&mask) : sigemptyset(&mask));
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void in_session(void (*check)(void))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		set_mask(true);
		open_terminal();
		check();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* A child that waits for signals, in @group; 0: in a group of its own. */
static pid_t add_child(pid_t group)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)alarm(60);
		set_mask(false);
		for (;;)
			(void)pause();
	}
	ck_assert_int_eq(setpgid(pid, group), 0);
	return pid;
}

static void end_child(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void stop_child(pid_t pid, int signo)
{
	siginfo_t info;

	ck_assert_int_eq(kill(pid, signo), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED), 0);
	ck_assert_int_eq(info.si_status, signo);
}

/* Returns true if the child has been resumed since the last call. */
static bool was_resumed(pid_t pid)
{
	siginfo_t info = { 0 };

	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WCONTINUED | WNOHANG), 0);
	return info.si_pid == pid;
}

static void give_foreground(pid_t group)
{
	ck_assert_int_eq(tcsetpgrp(TERMINAL, group), 0);
}

static pid_t foreground(void)
{
	return tcgetpgrp(TERMINAL);
}

/* --- the terminal --- */

static void check_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), terminal = dup(TERMINAL);
	struct job job;

	for (int fd = 0; fd <= 3; fd++) {
		for (int i = 0; i <= 2; i++)
			ck_assert_int_eq(dup2(i == fd ? terminal : null, i), i);
		job_init(&job);
		ck_assert_int_eq(job.terminal, fd <= 2 ? fd : -1);
		ck_assert_int_eq(job.group, 0);
		ck_assert_int_eq(job_foreground(&job), job.terminal);
	}
}

START_TEST(terminal_is_that_of_a_standard_stream)
{
	in_session(check_terminal);
}
END_TEST

static void check_handing_over(void)
{
	struct job job = { .terminal = TERMINAL, .group = add_child(0) };
	pid_t other = add_child(0);

	ck_assert_int_eq(job_foreground(&job), TERMINAL);
	job_resume(&job);
	ck_assert_int_eq(foreground(), job.group);
	ck_assert_int_eq(job_foreground(&job), -1);
	give_foreground(other);
	job_resume(&job);
	ck_assert_int_eq(foreground(), other);
	job.terminal = -1;
	give_foreground(getpgrp());
	job_resume(&job);
	ck_assert_int_eq(foreground(), getpgrp());
	end_child(job.group);
	end_child(other);
}

START_TEST(foreground_is_handed_over_by_its_owner)
{
	in_session(check_handing_over);
}
END_TEST

static void check_end(void)
{
	struct job job = { .terminal = TERMINAL, .group = add_child(0) }, none = { -1, job.group };
	pid_t other = add_child(0);

	job_end(&job);
	ck_assert_int_eq(foreground(), getpgrp());
	give_foreground(job.group);
	job_end(&none);
	ck_assert_int_eq(foreground(), job.group);
	job_end(&job);
	ck_assert_int_eq(foreground(), getpgrp());
	give_foreground(other);
	job_end(&job);
	ck_assert_int_eq(foreground(), other);
	end_child(other);
	job_end(&job);
	ck_assert_int_eq(foreground(), getpgrp());
	end_child(job.group);
}

/* From the command, or from a group that has ended. */
START_TEST(foreground_is_taken_back_at_the_end)
{
	in_session(check_end);
}
END_TEST

/* --- stops of the command --- */

START_TEST(four_signals_stop_a_job)
{
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		ck_assert_int_eq(job_is_stop(signo), signo == SIGTSTP || signo == SIGTTIN ||
							     signo == SIGTTOU || signo == SIGSTOP);
}
END_TEST

static void check_following(void)
{
	static const int stops[] = { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU };
	pid_t pid = add_child(0);
	bool stopped = false;
	siginfo_t info;

	for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
		ck_assert_int_eq(job_stopped_by(pid, &stopped), 0);
		ck_assert(!stopped);
		ck_assert_int_eq(kill(pid, stops[i]), 0);
		ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT), 0);
		ck_assert_int_eq(job_stopped_by(pid, &stopped), stops[i]);
		ck_assert(stopped);
		ck_assert_int_eq(job_stopped_by(pid, &stopped), 0);
		ck_assert(stopped);
		ck_assert_int_eq(kill(pid, SIGCONT), 0);
		ck_assert_int_eq(job_stopped_by(pid, &stopped), 0);
		ck_assert(!stopped);
	}
	end_child(pid);
	ck_assert_int_eq(job_stopped_by(pid, &stopped), 0);
	ck_assert(!stopped);
}

START_TEST(stop_and_continuation_of_the_command_are_followed)
{
	in_session(check_following);
}
END_TEST

/* The program leads the session: it cannot be resumed. */
static void check_leader(void)
{
	struct job job = { .terminal = TERMINAL, .group = add_child(0) }, none = { -1, job.group };
	pid_t other = add_child(0);
	sigset_t one;

	stop_child(job.group, SIGTSTP);
	job_process_stop(&none, SIGTSTP);
	ck_assert(!was_resumed(job.group));
	ck_assert_int_eq(kill(getpid(), SIGCONT), 0);
	job_process_stop(&job, SIGTSTP);
	ck_assert(!was_resumed(job.group));
	(void)sigemptyset(&one);
	(void)sigaddset(&one, SIGCONT);
	ck_assert_int_eq(sigwaitinfo(&one, NULL), SIGCONT);
	job_process_stop(&job, SIGTSTP);
	ck_assert(was_resumed(job.group));
	ck_assert_int_eq(foreground(), getpgrp());

	stop_child(job.group, SIGSTOP);
	job_process_stop(&job, SIGSTOP);
	ck_assert(!was_resumed(job.group));
	/* The command would repeat its access to the terminal. */
	give_foreground(other);
	job_process_stop(&job, SIGTTIN);
	job_process_stop(&job, SIGTTOU);
	ck_assert(!was_resumed(job.group));
	ck_assert_int_eq(foreground(), other);
	end_child(other);
	end_child(job.group);
}

START_TEST(command_is_not_left_suspended_where_no_shell_resumes_it)
{
	in_session(check_leader);
}
END_TEST

static void check_access(void)
{
	static const int accesses[] = { SIGTTIN, SIGTTOU };
	struct job job = { .terminal = TERMINAL, .group = add_child(0) };

	for (size_t i = 0; i < ARRAY_SIZE(accesses); i++) {
		give_foreground(getpgrp());
		stop_child(job.group, accesses[i]);
		job_process_stop(&job, accesses[i]);
		ck_assert(was_resumed(job.group));
		ck_assert_int_eq(foreground(), job.group);
	}
	end_child(job.group);
}

START_TEST(access_to_the_terminal_is_given_by_its_owner)
{
	in_session(check_access);
}
END_TEST

/* --- stops of the program --- */

/* A process with the part of the program, in a group of its own or in that of the session's leader. */
static pid_t add_program(bool own_group, void (*run)(int signo, pid_t command), int signo,
			 pid_t command)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid > 0)
		return pid;
	if (own_group)
		(void)setpgid(0, 0);
	run(signo, command);
	_exit(0);
}

static void run_process_stop(int signo, pid_t command)
{
	const struct job job = { .terminal = TERMINAL, .group = command };

	job_process_stop(&job, signo);
}

static void run_suspend(int signo, pid_t command)
{
	(void)command;
	job_suspend(signo);
}

static void assert_stopped_by(pid_t pid, int signo)
{
	siginfo_t info;

	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED), 0);
	ck_assert_int_eq(info.si_code, CLD_STOPPED);
	ck_assert_int_eq(info.si_status, signo);
}

static void assert_ends(pid_t pid)
{
	siginfo_t info;

	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED), 0);
	ck_assert_int_eq(info.si_code, CLD_EXITED);
	ck_assert_int_eq(info.si_status, 0);
}

static void check_group(void)
{
	pid_t command = add_child(0), program, member;

	stop_child(command, SIGTSTP);
	program = fork();
	if (program == 0) {
		sigset_t begin;

		(void)sigemptyset(&begin);
		(void)sigaddset(&begin, SIGUSR1);
		(void)sigwaitinfo(&begin, NULL);
		run_process_stop(SIGTSTP, command);
		_exit(0);
	}
	ck_assert_int_eq(setpgid(program, 0), 0);
	member = add_child(program);
	ck_assert_int_eq(kill(program, SIGUSR1), 0);
	assert_stopped_by(program, SIGTSTP);
	assert_stopped_by(member, SIGTSTP);
	ck_assert_int_eq(kill(program, SIGCONT), 0);
	assert_ends(program);
	ck_assert(!was_resumed(command)); /* the program has yet to do it */
	end_child(member);
	end_child(command);
}

START_TEST(program_stops_with_its_group)
{
	in_session(check_group);
}
END_TEST

static void check_orphaned(void)
{
	pid_t command = add_child(0);

	stop_child(command, SIGTSTP);
	assert_ends(add_program(false, run_process_stop, SIGTSTP, command));
	ck_assert(was_resumed(command));
	end_child(command);
}

/* The kernel does not stop a group that no process could resume. */
START_TEST(command_goes_on_if_the_group_is_not_stopped)
{
	in_session(check_orphaned);
}
END_TEST

static void check_suspension(void)
{
	static const struct {
		bool own_group;
		int signo, stop;
	} cases[] = {
		{ true, SIGTSTP, SIGTSTP },  { true, SIGTTIN, SIGTTIN },
		{ true, SIGSTOP, SIGSTOP },  { false, SIGTSTP, SIGSTOP },
		{ false, SIGSTOP, SIGSTOP },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		pid_t pid = add_program(cases[i].own_group, run_suspend, cases[i].signo, 0);

		assert_stopped_by(pid, cases[i].stop);
		ck_assert_int_eq(kill(pid, SIGCONT), 0);
		assert_ends(pid);
	}
}

START_TEST(program_suspends_itself_once)
{
	in_session(check_suspension);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("job");
	TCase *tc = tcase_create("job");

	tcase_add_test(tc, terminal_is_that_of_a_standard_stream);
	tcase_add_test(tc, foreground_is_handed_over_by_its_owner);
	tcase_add_test(tc, foreground_is_taken_back_at_the_end);
	tcase_add_test(tc, four_signals_stop_a_job);
	tcase_add_test(tc, stop_and_continuation_of_the_command_are_followed);
	tcase_add_test(tc, command_is_not_left_suspended_where_no_shell_resumes_it);
	tcase_add_test(tc, access_to_the_terminal_is_given_by_its_owner);
	tcase_add_test(tc, program_stops_with_its_group);
	tcase_add_test(tc, command_goes_on_if_the_group_is_not_stopped);
	tcase_add_test(tc, program_suspends_itself_once);
	suite_add_tcase(s, tc);
	return s;
}
