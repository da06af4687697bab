#include "tests/unit/ctl/test-ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "ctl/session/runner.h"

#define TAKEN SAY("{\"parameters\":{\"id\":7}}")

static int guard_shell(const char *script, const struct answer *answers, size_t n)
{
	return run_shell("guard --why nightly web --", script, answers, n);
}

static const struct answer taken[] = { TAKEN };

START_TEST(a_guards_exit_status_is_the_commands)
{
	ck_assert_int_eq(guard_shell("exit 7", taken, 1), 7);
	assert_has(
		asked,
		"TakeGuard\",\"parameters\":{\"node\":\"web\",\"late\":false,\"why\":\"nightly\"},\"more\":true}\n");
	ck_assert_int_eq(guard_shell("kill -KILL $$", taken, 1), 128 + SIGKILL);
	ck_assert_int_eq(guard_shell("echo hello", taken, 1), 0);
	ck_assert_str_eq(out, "hello\n");
	ck_assert_int_eq(RUN("guard web -- /nowhere/cmd", TAKEN), 127);
	if (spawn_reports_failures())
		ck_assert_int_eq(RUN("guard web -- /", TAKEN), 126);
	ck_assert_int_eq(RUN("guard --late web true -q --nope", TAKEN), 0);
	assert_has(asked, "\"late\":true");
	ck_assert_int_eq(RUN("guard --using web -- true", TAKEN), 0);
	assert_has(asked, "\"using\":true");
}
END_TEST

START_TEST(a_command_inherits_no_descriptor_and_no_signal_mask)
{
	/* 0, 1, 2 and the one that ls opens; and no signal blocked. */
	ck_assert_int_eq(
		guard_shell("ls /proc/self/fd | wc -l; grep SigBlk /proc/self/status", taken, 1),
		0);
	ck_assert_str_eq(out, "4\nSigBlk:\t0000000000000000\n");
}
END_TEST

START_TEST(guard_passes_signals_on_and_waits_for_the_command)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		char *argv[] = {
			(char[]){ "swansongctl" },
			(char[]){ "guard" },
			(char[]){ "web" },
			(char[]){ "--" },
			(char[]){ "sh" },
			(char[]){ "-c" },
			(char[]){
				"trap 'kill $!; echo got it; exit 9' TERM INT HUP QUIT; sleep 60 & echo ready; wait" },
			NULL
		};
		int pipe_fds[2], err_fd = memfd_create("err", MFD_CLOEXEC);
		pid_t pid;

		out[0] = '\0';
		ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
		start_server(taken, 1);
		pid = start_program(argv, pipe_fds[1], err_fd);
		close(pipe_fds[1]);
		ck_assert(read_until(pipe_fds[0], "ready"));
		kill(pid, signals[i]);
		ck_assert_int_eq(end_program(pid), 9);
		ck_assert(read_until(pipe_fds[0], "got it"));
		end_server();
		close(pipe_fds[0]);
		close(err_fd);
	}
}
END_TEST

START_TEST(a_signal_before_there_is_a_command_is_not_lost)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
	char *argv[] = { (char[]){ "true" }, NULL };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		struct runner runner;

		ck_assert_int_eq(runner_init(&runner), 0);
		ck_assert_int_eq(raise(signals[i]), 0);
		ck_assert_int_eq(runner_start(&runner, argv, -1), -EINTR);
		ck_assert_int_eq(runner.pid, 0);
		ck_assert_int_eq(runner.signo, signals[i]);
		runner_done(&runner);
	}
}
END_TEST

/* A signal of the terminal at the last moment before the command exists. */
static int signal_before_spawn;

int __real_posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const *argv, char *const *envp);
int __wrap_posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const *argv, char *const *envp);
int __wrap_posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const *argv, char *const *envp)
{
	siginfo_t info = { .si_code = SI_KERNEL };

	if (signal_before_spawn)
		ck_assert_int_eq(syscall(SYS_rt_sigqueueinfo, getpid(), signal_before_spawn, &info),
				 0);
	return __real_posix_spawnp(pid, file, actions, attributes, argv, envp);
}

START_TEST(a_signal_while_the_command_is_made_is_not_lost)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };
	char *argv[] = { (char[]){ "sleep" }, (char[]){ "60" }, NULL };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		struct runner runner;
		int status;

		/* In the background of a shell some are ignored. */
		(void)signal(signals[i], SIG_DFL);
		ck_assert_int_eq(runner_init(&runner), 0);
		signal_before_spawn = signals[i];
		ck_assert_int_eq(runner_start(&runner, argv, -1), 0);
		signal_before_spawn = 0;
		ck_assert_int_eq(waitpid(runner.pid, &status, 0), runner.pid);
		ck_assert(WIFSIGNALED(status));
		ck_assert_int_eq(WTERMSIG(status), signals[i]);
		ck_assert_int_eq(sigprocmask(SIG_SETMASK, &runner.old_mask, NULL), 0);
		runner_done(&runner);
	}
}
END_TEST

START_TEST(the_guard_is_held_until_the_command_ends)
{
	char *argv[] = { (char[]){ "swansongctl" }, (char[]){ "guard" }, (char[]){ "web" },
			 (char[]){ "cat" }, NULL };
	int in[2], out_fds[2], saved = dup(STDIN_FILENO), err_fd = memfd_create("err", MFD_CLOEXEC);
	pid_t pid;

	out[0] = '\0';
	/* Before there are pipes, which it would keep open. */
	start_server(taken, 1);
	ck_assert_int_eq(pipe2(in, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(out_fds, O_CLOEXEC), 0);
	dup2(in[0], STDIN_FILENO);
	pid = start_program(argv, out_fds[1], err_fd);
	close(out_fds[1]);
	dup2(saved, STDIN_FILENO);
	ck_assert_int_eq(write(in[1], "x", 1), 1);
	ck_assert(read_until(out_fds[0], "x"));
	/* The server ends with the connection, which is still there. */
	ck_assert(server_is_running());
	close(in[1]);
	ck_assert_int_eq(end_program(pid), 0);
	await_server();
	close(in[0]);
	close(out_fds[0]);
	close(err_fd);
	close(saved);
}
END_TEST

START_TEST(a_command_goes_on_without_the_daemon)
{
	static const struct answer gone[] = { { "{\"parameters\":{\"id\":7}}", 0, THEN_CLOSE } };
	char script[200];

	/* The command ends as soon as standard error of its parent, a file, has the message. */
	snprintf(script, sizeof(script),
		 "until grep -q 'guard with it' /proc/$PPID/fd/2; do :; done; exit 3");
	ck_assert_int_eq(guard_shell(script, gone, 1), 3);
	assert_has(err, "the daemon has gone, and the guard with it; sh goes on");
}
END_TEST

#define LATER(text, then)     \
	{                     \
		text, 0, then \
	}
#define HELD	 "{\"parameters\":{\"id\":7},\"continues\":true}"
#define STOPPING "{\"parameters\":{\"id\":7,\"stopping\":true},\"continues\":true}"

START_TEST(on_shutdown_signals_the_command_at_the_stop)
{
	static const struct answer answers[] = { LATER(HELD, THEN_MORE),
						 LATER(STOPPING, THEN_NEXT) };

	ck_assert_int_eq(run("guard --on-shutdown USR1 web sleep 60", answers, ARRAY_SIZE(answers)),
			 128 + SIGUSR1);
	ck_assert_str_eq(err, "");
}
END_TEST

START_TEST(without_on_shutdown_the_command_gets_no_signal)
{
	static const struct answer answers[] = { LATER(HELD, THEN_MORE),
						 LATER(STOPPING, THEN_NEXT) };

	ck_assert_int_eq(guard_shell("exit 4", answers, ARRAY_SIZE(answers)), 4);
	ck_assert_str_eq(err, "");
}
END_TEST

START_TEST(a_lost_guard_is_reported_and_the_command_goes_on)
{
	static const struct {
		const char *reply, *said;
	} table[] = {
		{ "{\"parameters\":{\"id\":7,\"lost\":\"expired\"}}",
		  "swansongctl: web: the guard has expired; sh goes on\n" },
		{ "{\"parameters\":{\"id\":7,\"lost\":\"revoked\"}}",
		  "swansongctl: web: the guard was revoked, as the time to shut down is spent; "
		  "sh goes on\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct answer answers[] = { LATER(HELD, THEN_MORE),
						  LATER(table[i].reply, THEN_NEXT) };

		ck_assert_int_eq(guard_shell("until grep -q 'goes on' /proc/$PPID/fd/2; do :; done;"
					     "exit 5",
					     answers, 2),
				 5);
		ck_assert_str_eq(err, table[i].said);
	}
}
END_TEST

START_TEST(a_guard_has_a_time_to_live)
{
	ck_assert_int_eq(RUN("guard --ttl 1500ms web true", TAKEN), 0);
	assert_has(asked, "\"ttl_usec\":1500000}");
	ck_assert_int_eq(RUN("guard --ttl infinity web true", TAKEN), 0);
	assert_lacks(asked, "ttl_usec");
	ck_assert_int_eq(run("guard --ttl 0 web true", NULL, 0), 2);
	ck_assert_int_eq(run("guard --ttl 5 web true", NULL, 0), 2);
	ck_assert_int_eq(run("guard --ttl -1s web true", NULL, 0), 2);
	ck_assert_int_eq(run("guard --on-shutdown SIGNOPE web true", NULL, 0), 2);
	ck_assert_int_eq(run("guard --on-shutdown 0 web true", NULL, 0), 2);
	ck_assert_int_eq(run("stop --ttl 5s web", NULL, 0), 2);
}
END_TEST

TCase *ctl_guard_tests(void)
{
	TCase *tc = tcase_create("guard");

	ctl_fixture(tc);
	tcase_add_test(tc, a_guards_exit_status_is_the_commands);
	tcase_add_test(tc, a_command_inherits_no_descriptor_and_no_signal_mask);
	tcase_add_test(tc, guard_passes_signals_on_and_waits_for_the_command);
	tcase_add_test(tc, a_signal_before_there_is_a_command_is_not_lost);
	tcase_add_test(tc, a_signal_while_the_command_is_made_is_not_lost);
	tcase_add_test(tc, the_guard_is_held_until_the_command_ends);
	tcase_add_test(tc, a_command_goes_on_without_the_daemon);
	tcase_add_test(tc, on_shutdown_signals_the_command_at_the_stop);
	tcase_add_test(tc, without_on_shutdown_the_command_gets_no_signal);
	tcase_add_test(tc, a_lost_guard_is_reported_and_the_command_goes_on);
	tcase_add_test(tc, a_guard_has_a_time_to_live);
	return tc;
}
