#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macro.h"
#include "sys/process/proc.h"
#include "sys/process/reap.h"
#include "sys/spawn/environment.h"

#define CHILDREN_MAX 400

/* --- children to look at --- */

/* Waits until the test closes its end of @pipe, or ends. */
static _Noreturn void stay(const int pipe[2])
{
	char c;

	(void)close(pipe[1]);
	(void)!read(pipe[0], &c, 1);
	_exit(0);
}

/* A child that stays until the pipe is closed. */
static pid_t add_staying(const int pipe[2])
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		stay(pipe);
	return pid;
}

/* A child that exits with @status; dead on return, and not reaped. */
static pid_t add_dead(int status)
{
	siginfo_t info;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(status);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

/* The same for a child that a signal has killed. */
static pid_t add_killed(void)
{
	siginfo_t info;
	int pipe_[2];
	pid_t pid;

	ck_assert_int_eq(pipe(pipe_), 0);
	pid = add_staying(pipe_);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

struct seen {
	pid_t pids[CHILDREN_MAX];
	struct reap_exit exits[CHILDREN_MAX];
	size_t n;
};

static bool has_seen(const struct seen *seen, pid_t pid)
{
	for (size_t i = 0; i < seen->n; i++)
		if (seen->pids[i] == pid)
			return true;
	return false;
}

/* --- reap --- */

static void note_exit(const struct reap_exit *exit, void *arg)
{
	struct seen *seen = arg;
	struct proc_info info;

	/* The child is not reaped yet, so its pid is not reused. */
	ck_assert_int_eq(proc_read(exit->pid, &info), 0);
	ck_assert_int_eq(info.state, 'Z');
	seen->pids[seen->n] = exit->pid;
	seen->exits[seen->n++] = *exit;
}

static void note_collected(const struct reap_exit *exit, void *arg)
{
	struct seen *seen = arg;
	struct proc_info info;

	ck_assert_int_eq(proc_read(exit->pid, &info), -ENOENT);
	seen->exits[seen->n++] = *exit;
}

START_TEST(children_are_reported_before_they_are_reaped)
{
	struct seen seen = { .n = 0 };
	struct proc_info info;
	pid_t pid = add_dead(7);

	ck_assert_uint_eq(reap_children(10, note_exit, &seen), 1);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_int_eq(seen.exits[0].pid, pid);
	ck_assert(!seen.exits[0].signaled);
	ck_assert_int_eq(seen.exits[0].value, 7);
	ck_assert_int_eq(proc_read(pid, &info), -ENOENT);
	ck_assert_int_lt(waitpid(pid, NULL, WNOHANG), 0);
}
END_TEST

START_TEST(a_death_by_signal_is_reported_as_such)
{
	struct seen seen = { .n = 0 };
	pid_t pid = add_killed();

	ck_assert_uint_eq(reap_children(10, note_exit, &seen), 1);
	ck_assert_int_eq(seen.exits[0].pid, pid);
	ck_assert(seen.exits[0].signaled);
	ck_assert_int_eq(seen.exits[0].value, SIGKILL);
}
END_TEST

/* Many deaths may cause one SIGCHLD: all dead children are reaped, and no living one. */
START_TEST(all_dead_children_are_reaped_in_one_call)
{
	struct seen seen = { .n = 0 };
	pid_t pids[50], living;
	int pipe_[2];

	ck_assert_int_eq(pipe(pipe_), 0);
	living = add_staying(pipe_);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		pids[i] = add_dead((int)i);
	ck_assert_uint_eq(reap_children(CHILDREN_MAX, note_exit, &seen), ARRAY_SIZE(pids));
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++)
		ck_assert(has_seen(&seen, pids[i]));
	ck_assert(!has_seen(&seen, living));
	ck_assert_uint_eq(reap_children(CHILDREN_MAX, note_exit, &seen), 0);
	(void)close(pipe_[1]);
	ck_assert_int_eq(waitpid(living, NULL, 0), living);
	ck_assert_uint_eq(reap_children(CHILDREN_MAX, note_exit, &seen), 0); /* no child at all */
}
END_TEST

START_TEST(a_single_child_can_be_reaped)
{
	struct seen seen = { .n = 0 };
	pid_t first = add_dead(1), second = add_dead(2), living;
	int pipe_[2];

	ck_assert_int_eq(pipe(pipe_), 0);
	living = add_staying(pipe_);
	ck_assert(!reap_child(living, note_exit, &seen));
	ck_assert(!reap_child(getpid(), note_exit, &seen)); /* not a child */
	ck_assert(reap_child(second, note_exit, &seen));
	ck_assert(!reap_child(second, note_exit, &seen));
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_int_eq(seen.exits[0].pid, second);
	ck_assert_int_eq(seen.exits[0].value, 2);
	ck_assert_uint_eq(reap_children(10, note_exit, &seen), 1);
	ck_assert_int_eq(seen.exits[1].pid, first);
	(void)close(pipe_[1]);
	ck_assert_int_eq(waitpid(living, NULL, 0), living);
}
END_TEST

START_TEST(a_stopped_or_continued_child_is_not_reaped)
{
	struct seen seen = { .n = 0 };
	siginfo_t info;
	int pipe_[2];
	pid_t pid;

	ck_assert_int_eq(pipe(pipe_), 0);
	pid = add_staying(pipe_);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(kill(pid, i == 0 ? SIGSTOP : SIGCONT), 0);
		ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WCONTINUED | WNOWAIT),
				 0);
		ck_assert(!reap_child(pid, note_exit, &seen));
		ck_assert_uint_eq(reap_children(10, note_exit, &seen), 0);
		ck_assert_uint_eq(reap_collected(10, note_collected, &seen), 0);
	}
	(void)close(pipe_[1]);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(reaping_keeps_its_maximum_and_loses_nothing)
{
	struct seen seen = { .n = 0 };

	for (int i = 0; i < 25; i++)
		add_dead(0);
	ck_assert_uint_eq(reap_children(0, note_exit, &seen), 0);
	ck_assert_uint_eq(reap_children(10, note_exit, &seen), 10);
	ck_assert_uint_eq(reap_children(10, note_exit, &seen), 10);
	ck_assert_uint_eq(reap_children(10, note_exit, &seen), 5);
	ck_assert_uint_eq(seen.n, 25);
	for (size_t i = 1; i < seen.n; i++)
		ck_assert_int_ne(seen.pids[i], seen.pids[i - 1]);
}
END_TEST

START_TEST(children_are_reported_after_they_are_reaped)
{
	struct seen seen = { .n = 0 };

	for (int i = 0; i < 25; i++)
		add_dead(i);
	ck_assert_uint_eq(reap_collected(10, note_collected, &seen), 10);
	ck_assert_uint_eq(reap_collected(100, note_collected, &seen), 15);
	ck_assert_uint_eq(reap_collected(100, note_collected, &seen), 0);
	for (int i = 0; i < 25; i++) {
		ck_assert(!seen.exits[i].signaled);
		ck_assert_int_eq(seen.exits[i].value, i);
	}
}
END_TEST

START_TEST(a_death_by_signal_is_reaped_as_such)
{
	struct seen seen = { .n = 0 };
	pid_t pid = add_killed();

	ck_assert_uint_eq(reap_collected(10, note_collected, &seen), 1);
	ck_assert_int_eq(seen.exits[0].pid, pid);
	ck_assert(seen.exits[0].signaled);
	ck_assert(!seen.exits[0].dumped);
	ck_assert_int_eq(seen.exits[0].value, SIGKILL);
}
END_TEST

/* The child of a child becomes a child of the test when its parent dies. */
START_TEST(unowned_processes_are_reported)
{
	struct seen seen = { .n = 0 };
	siginfo_t info;
	int pids[2];
	pid_t child, stranger;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	ck_assert_int_eq(pipe(pids), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		stranger = fork();
		if (stranger == 0)
			_exit(9);
		_exit(write(pids[1], &stranger, sizeof(stranger)) != sizeof(stranger));
	}
	ck_assert_int_eq(read(pids[0], &stranger, sizeof(stranger)), sizeof(stranger));
	/* After the end of the child, the grandchild can be waited for. */
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)stranger, &info, WEXITED | WNOWAIT), 0);
	ck_assert_uint_eq(reap_children(10, note_exit, &seen), 2);
	ck_assert(has_seen(&seen, child));
	ck_assert(has_seen(&seen, stranger));
}
END_TEST

/* --- proc --- */

START_TEST(proc_finds_the_current_process)
{
	struct proc_info info;
	uid_t uid;

	ck_assert_int_eq(proc_read(getpid(), &info), 0);
	ck_assert_int_eq(info.parent, getppid());
	ck_assert_int_eq(info.group, getpgrp());
	ck_assert_int_eq(info.session, getsid(0));
	ck_assert_int_eq(info.state, 'R');
	ck_assert_int_eq(proc_uid(getpid(), &uid), 0);
	ck_assert_uint_eq(uid, getuid());
}
END_TEST

START_TEST(a_name_with_brackets_does_not_shift_the_fields)
{
	static const char *const names[] = { ") R 1 1 1", "a) Z 1 1", "\n) S 2 2\n2", "((()", "",
					     " ",	  ")" };
	uint64_t age_usec;
	char name[16];
	struct proc_info info;
	uid_t uid;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ck_assert_int_eq(prctl(PR_SET_NAME, names[i], 0, 0, 0), 0);
		ck_assert_int_eq(prctl(PR_GET_NAME, name, 0, 0, 0), 0);
		ck_assert_int_eq(proc_uid(getpid(), &uid), 0);
		ck_assert_uint_eq(uid, getuid());
		ck_assert_int_eq(proc_read(getpid(), &info), 0);
		ck_assert_int_eq(info.parent, getppid());
		ck_assert_int_eq(info.group, getpgrp());
		ck_assert_int_eq(info.session, getsid(0));
		ck_assert_int_eq(info.state, 'R');
		ck_assert_str_eq(info.name, name);
		ck_assert_int_eq(proc_age(getpid(), &age_usec), 0);
		ck_assert_uint_lt(age_usec, 10 * 60 * USEC_PER_SEC);
	}
}
END_TEST

START_TEST(a_child_is_younger_than_its_parent)
{
	uint64_t ours_usec, its_usec;
	pid_t pid = add_dead(0);

	ck_assert_int_eq(proc_age(pid, &its_usec), 0);
	ck_assert_int_eq(proc_age(getpid(), &ours_usec), 0);
	ck_assert_uint_le(its_usec, ours_usec);
	/* Process 1 of the machine, or of the container, is older than any test. */
	ck_assert_int_eq(proc_age(1, &its_usec), 0);
	ck_assert_uint_le(ours_usec, its_usec + USEC_PER_SEC);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_lt(proc_age(pid, &its_usec), 0);
}
END_TEST

START_TEST(a_child_that_leads_its_group_is_known_without_proc)
{
	struct proc_info info;
	pid_t living;
	int pipe_[2];

	ck_assert_int_eq(pipe(pipe_), 0);
	living = add_staying(pipe_);
	ck_assert_int_eq(proc_read_child(living, &info), -ECHILD); /* in the group of this process */
	ck_assert_int_eq(setpgid(living, living), 0);
	ck_assert_int_eq(proc_read_child(living, &info), 0);
	ck_assert_int_eq(info.parent, getpid());
	ck_assert_int_eq(info.group, living);
	ck_assert_int_eq(proc_read_child(getpid(), &info), -ECHILD);
	(void)close(pipe_[1]);
	ck_assert_int_eq(waitid(P_PID, (id_t)living, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(proc_read_child(living, &info), 0); /* dead, and not collected */
	ck_assert_int_eq(waitpid(living, NULL, 0), living);
	ck_assert_int_eq(proc_read_child(living, &info), -ECHILD);
}
END_TEST

START_TEST(a_process_that_has_ended_is_not_found)
{
	struct proc_info info;
	char value[8];
	pid_t pid = add_dead(0);

	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(proc_read(pid, &info), -ENOENT);
	ck_assert_int_lt(environment_read(pid, "X", value, sizeof(value)), 0);
}
END_TEST

/* A shell with @envp, which reads from *to, and on return has written its first byte to *from. */
static pid_t add_shell(char *script, char *const *envp, int *to, int *from)
{
	char *const argv[] = { (char[]){ "sh" }, (char[]){ "-c" }, script, NULL };
	int in[2], out[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(in), 0);
	ck_assert_int_eq(pipe(out), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)close(in[1]);
		if (dup2(in[0], 0) == 0 && dup2(out[1], 1) == 1)
			(void)execve("/bin/sh", argv, envp);
		_exit(127);
	}
	ck_assert_int_eq(read(out[0], &c, 1), 1);
	(void)close(out[1]);
	(void)close(in[0]);
	*to = in[1];
	*from = out[0];
	return pid;
}

/* In one round or another, the marker lies across the edge of a piece that is read at once. */
START_TEST(a_variable_is_found_at_any_position)
{
	size_t size = 24 * 4096 - 140 + (size_t)_i * 3;
	cleanup(freep) char *filler = malloc(size);
	char *const envp[] = {
		filler,
		(char[]){ "SWANSONG_NODE_=no" },
		(char[]){ "XSWANSONG_NODE=no" },
		(char[]){ "SWANSONG=SWANSONG_NODE=no" },
		(char[]){ "SWANSONG_NOD=no" },
		(char[]){ "SWANSONG_NODE=web/nginx" },
		(char[]){ "EMPTY=" },
		(char[]){ "SWANSONG_NODE=second" },
		NULL,
	};
	char value[32];
	int to, from;
	pid_t pid;

	ck_assert_ptr_nonnull(filler);
	memset(filler, 'x', size);
	memcpy(filler, "F=", 2);
	filler[size - 1] = '\0';
	pid = add_shell((char[]){ "echo; read x" }, envp, &to, &from);
	ck_assert_int_eq(environment_read(pid, "SWANSONG_NODE", value, sizeof(value)), 0);
	ck_assert_str_eq(value, "web/nginx");
	ck_assert_int_eq(environment_read(pid, "EMPTY", value, sizeof(value)), 0);
	ck_assert_str_eq(value, "");
	ck_assert_int_eq(environment_read(pid, "ABSENT", value, sizeof(value)), -ENOENT);
	ck_assert_int_eq(environment_read(pid, "SWANSONG_NODE=web", value, sizeof(value)), -ENOENT);

	/* A value that does not fit with its end is none. */
	ck_assert_int_eq(environment_read(pid, "SWANSONG_NODE_", value, 3), 0);
	ck_assert_str_eq(value, "no");
	ck_assert_int_eq(environment_read(pid, "SWANSONG_NODE_", value, 2), -ENOENT);
	ck_assert_int_eq(environment_read(pid, "F", value, sizeof(value)), -ENOENT);
	(void)close(to);
	(void)close(from);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* An exec frees the memory that has not been read yet: the variable is never taken to be missing. */
START_TEST(an_exec_during_the_reading_gives_no_data)
{
	static char filler[100000] = "F=";
	char *const envp[] = { filler, (char[]){ "SWANSONG_NODE=web" },
			       (char[]){ "AGAIN=exec sh -c \"$AGAIN\"" }, NULL };
	bool seen = false;
	char value[32];
	int to, from;
	pid_t pid;

	memset(filler + 2, 'x', sizeof(filler) - 3);
	pid = add_shell((char[]){ "echo; eval \"$AGAIN\"" }, envp, &to, &from);
	for (int i = 0; i < 500 || !seen; i++) {
		int r = environment_read(pid, "SWANSONG_NODE", value, sizeof(value));

		/* On a busy machine an exec may take longer than the call waits. */
		ck_assert_msg(r == 0 || r == -ENODATA || r == -ETIMEDOUT, "%d", r);
		if (r == 0)
			ck_assert_str_eq(value, "web");
		seen |= r == -ENODATA;
	}
	(void)close(to);
	(void)close(from);
	(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("sys");
	TCase *tc = tcase_create("sys");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, children_are_reported_before_they_are_reaped);
	tcase_add_test(tc, a_death_by_signal_is_reported_as_such);
	tcase_add_test(tc, all_dead_children_are_reaped_in_one_call);
	tcase_add_test(tc, a_single_child_can_be_reaped);
	tcase_add_test(tc, a_stopped_or_continued_child_is_not_reaped);
	tcase_add_test(tc, reaping_keeps_its_maximum_and_loses_nothing);
	tcase_add_test(tc, children_are_reported_after_they_are_reaped);
	tcase_add_test(tc, a_death_by_signal_is_reaped_as_such);
	tcase_add_test(tc, unowned_processes_are_reported);
	tcase_add_test(tc, proc_finds_the_current_process);
	tcase_add_test(tc, a_name_with_brackets_does_not_shift_the_fields);
	tcase_add_test(tc, a_child_is_younger_than_its_parent);
	tcase_add_test(tc, a_child_that_leads_its_group_is_known_without_proc);
	tcase_add_test(tc, a_process_that_has_ended_is_not_found);
	tcase_add_loop_test(tc, a_variable_is_found_at_any_position, 0, 40);
	tcase_add_test(tc, an_exec_during_the_reading_gives_no_data);
	suite_add_tcase(s, tc);
	return s;
}
