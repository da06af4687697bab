/* The daemon as a whole, in a process of its own: its start, its signals and its exit status. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "daemon/cgroup/delegation.h"
#include "daemon/logger/logging.h"
#include "daemon/main/fault.h"
#include "daemon/main/options.h"
#include "proto/address.h"
#include "tests/unit/fixtures/scratch.h"

#define DEADLINE_USEC (40 * USEC_PER_SEC)
#define SLEEP	      "exec sleep 100'\n"

static pid_t pid;
static struct log memory_log = { .fd = -1, .level = LOG_DEBUG, .name = "test" };

/* --- without traces on the machine --- */

void __wrap_fault_begin(struct signals *was, char *const *argv, struct log *log, int *history,
			struct crash_history *read);
void __wrap_fault_begin(struct signals *was, char *const *argv, struct log *log, int *history,
			struct crash_history *read)
{
	(void)argv;
	(void)log;
	signals_take_over(was);
	*read = (struct crash_history){ .reason = CRASH_NONE };
	*history = -1;
}

int __wrap_cgroups_new(struct cgroups **ret, struct context *ctx, const char *socket);
int __wrap_cgroups_new(struct cgroups **ret, struct context *ctx, const char *socket)
{
	(void)ctx;
	(void)socket;
	*ret = NULL;
	return 0;
}

int __wrap_logging_new(struct logging **ret, struct context *ctx, const struct credentials *user);
int __wrap_logging_new(struct logging **ret, struct context *ctx, const struct credentials *user)
{
	(void)ctx;
	(void)user;
	*ret = NULL;
	return 0;
}

int __wrap_address_directory(char **ret);
int __wrap_address_directory(char **ret)
{
	return asprintf(ret, "%s/run", directory) < 0 ? -ENOMEM : 0;
}

/* --- the daemon --- */

static void configure(const char *text)
{
	write_file("config.new", text, strlen(text));
	ck_assert_int_eq(rename("config.new", "config"), 0);
}

static void begin_daemon(const char *text, const char *socket)
{
	static const char *const paths[] = { "config" };
	const struct daemon_options options = {
		.paths = paths, .n_paths = 1, .trust = true, .socket = socket, .log = &memory_log
	};

	configure(text);
	memory_log.fd = memfd_create("log", MFD_CLOEXEC);
	ck_assert_int_ge(memory_log.fd, 0);
	(void)unsetenv("NOTIFY_SOCKET");
	(void)unsetenv("SWANSONG_GRACE");
	(void)unsetenv("SWANSONG_SOCKET");
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(daemon_run(&options));
	}
}

static void await_file(const char *name)
{
	uint64_t until = clock_now_usec() + DEADLINE_USEC;

	while (access(name, F_OK) < 0 && clock_now_usec() < until)
		(void)poll(NULL, 0, 1);
	ck_assert_msg(access(name, F_OK) == 0, "%s", name);
}

static int await_end(void)
{
	int status = -1;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int end_by(int signo)
{
	ck_assert_int_eq(kill(pid, signo), 0);
	return await_end();
}

static bool is_logged(const char *text)
{
	static char all[65536];
	ssize_t n = pread(memory_log.fd, all, sizeof(all) - 1, 0);

	all[n > 0 ? n : 0] = '\0';
	return strstr(all, text);
}

static void expect_text(const char *file, const char *text)
{
	char found[256] = "";
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(read(fd, found, sizeof(found) - 1), 0);
	(void)close(fd);
	ck_assert_str_eq(found, text);
}

/* --- the start --- */

START_TEST(relative_socket_is_made_absolute)
{
	char expected[128];
	struct stat st;

	begin_daemon("[web]\ncommand = sh -c 'echo $SWANSONG_DAEMON >new; mv new out; " SLEEP,
		     "control");
	await_file("out");
	(void)snprintf(expected, sizeof(expected), "%s/control\n", directory);
	expect_text("out", expected);
	ck_assert_int_eq(stat("control", &st), 0);
	ck_assert(S_ISSOCK(st.st_mode));
	ck_assert_int_eq(end_by(SIGTERM), 0);
	ck_assert_int_lt(stat("control", &st), 0);
}
END_TEST

START_TEST(socket_that_cannot_be_made_fails_the_start)
{
	begin_daemon("[web]\ncommand = sh -c 'echo >out; " SLEEP, "config/control");
	ck_assert_int_eq(await_end(), DAEMON_EXIT_FAULT);
	ck_assert(is_logged("no control socket at "));
	ck_assert_int_lt(access("out", F_OK), 0);
}
END_TEST

START_TEST(mistake_in_the_configuration_fails_the_start)
{
	begin_daemon("[web]\ncommand = sh -c 'echo >out; " SLEEP "no-key = 1\n", "none");
	ck_assert_int_eq(await_end(), DAEMON_EXIT_CONFIG);
	ck_assert_int_lt(access("out", F_OK), 0);
}
END_TEST

/* A file is where the directory would be. */
START_TEST(missing_directory_for_messages_is_logged)
{
	struct stat st;

	if (_i > 0)
		write_file("run", "", 0);
	begin_daemon(
		"[web]\nnotify = yes\ncommand = sh -c 'echo $NOTIFY_SOCKET >new; mv new out; " SLEEP,
		"none");
	await_file("out");
	ck_assert_int_eq(is_logged("no directory for notification sockets: "), _i > 0);
	ck_assert_int_eq(stat("run/notify.0", &st) == 0, _i == 0);
	ck_assert_int_eq(end_by(SIGTERM), 0);
}
END_TEST

/* --- the exit status --- */

static const struct {
	const char *text;
	int signo, status;
} ends[] = {
	{ "", SIGTERM, 0 },
	{ "", SIGINT, 0 },
	{ "[swansong]\nexit-on-signal = 128+n\n", SIGTERM, 128 + SIGTERM },
	{ "[swansong]\nexit-on-signal = 128+n\n", SIGINT, 128 + SIGINT },
	/* The status of the first essential service that ended comes before that of the signal. */
	{ "[swansong]\nexit-on-signal = 128+n\n[a]\nessential = yes\ncommand = sh -c 'trap \"exit 0\" "
	  "TERM; echo >a; while :; do sleep 0.01; done'\n",
	  SIGTERM, 0 },
	{ "[swansong]\nexit-on-signal = 128+n\n[a]\nessential = yes\ncommand = sh -c 'trap \"exit 7\" "
	  "TERM; echo >a; while :; do sleep 0.01; done'\n",
	  SIGTERM, 7 },
	{ "[a]\nstop-timeout = 50ms\ncommand = sh -c 'trap \"\" TERM; echo >a; while :; do sleep 0.01; "
	  "done'\n",
	  SIGTERM, DAEMON_EXIT_FORCED },
};

START_TEST(exit_status_is_the_first_that_applies)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "%s[web]\ncommand = sh -c 'echo >up; " SLEEP,
		       ends[_i].text);
	begin_daemon(text, "none");
	await_file("up");
	if (strstr(text, "[a]"))
		await_file("a");
	ck_assert_int_eq(end_by(ends[_i].signo), ends[_i].status);
}
END_TEST

START_TEST(service_that_ends_the_tree_gives_the_status)
{
	static const char *const texts[] = {
		"[a]\nessential = yes\nrestart = never\ncommand = sh -c 'exit 5'\n",
		"[a]\non-failed = shutdown\nrestart = never\ncommand = sh -c 'exit 5'\n",
		"[swansong]\nexit-when = all\nexit-on-signal = 128+n\n"
		"[a]\nrestart = never\ncommand = sh -c 'exit 5'\n",
	};

	begin_daemon(texts[_i], "none");
	ck_assert_int_eq(await_end(), 5);
}
END_TEST

#define OF_SIGNAL "[swansong]\nexit-when = all\nexit-on-signal = 128+n\n"

/* Then the tree has no essential service, and so the status is that of the signal. */
START_TEST(service_that_is_not_essential_any_more_gives_no_status)
{
	char before[512], after[512];
	static const char *const commands[] = { "true", "sh -c 'exit 3'" };

	(void)snprintf(before, sizeof(before),
		       OF_SIGNAL
		       "[a]\ntype = oneshot\nrestart = never\nessential = yes\ncommand = %s\n"
		       "[b]\nessential = yes\nafter = a\ncommand = sh -c 'echo >up; " SLEEP,
		       commands[_i]);
	(void)snprintf(after, sizeof(after),
		       OF_SIGNAL "[a]\ntype = oneshot\nrestart = never\ncommand = %s\n"
				 "[b]\nafter = a\ncommand = sh -c 'echo >up; " SLEEP
				 "[c]\ncommand = sh -c 'echo >more; " SLEEP,
		       commands[_i]);
	begin_daemon(before, "none");
	await_file("up");
	configure(after);
	ck_assert_int_eq(kill(pid, SIGHUP), 0);
	await_file("more");
	ck_assert_int_eq(end_by(SIGTERM), 128 + SIGTERM);
}
END_TEST

static void end_test(void)
{
	(void)close(memory_log.fd);
	remove_directory();
}

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon");
	TCase *tc = tcase_create("daemon");

	tcase_add_checked_fixture(tc, make_directory, end_test);
	tcase_add_test(tc, relative_socket_is_made_absolute);
	tcase_add_test(tc, socket_that_cannot_be_made_fails_the_start);
	tcase_add_test(tc, mistake_in_the_configuration_fails_the_start);
	tcase_add_loop_test(tc, missing_directory_for_messages_is_logged, 0, 2);
	tcase_add_loop_test(tc, exit_status_is_the_first_that_applies, 0, ARRAY_SIZE(ends));
	tcase_add_loop_test(tc, service_that_ends_the_tree_gives_the_status, 0, 3);
	tcase_add_loop_test(tc, service_that_is_not_essential_any_more_gives_no_status, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
