#include "tests/unit/ctl/test-ctl.h"

#include <stdio.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "ctl/session/session.h"
#include "ctl/session/usage.h"

/* A daemon that is not there yet, memory that is not there, and numbers. */

static char hidden[128];

/* The daemon listens, but its socket has another name. */
static void hide_socket(void)
{
	(void)snprintf(hidden, sizeof(hidden), "%s.hidden", socket_path);
	ck_assert_int_eq(rename(socket_path, hidden), 0);
}

/* The first poll is that between two attempts to connect: the daemon comes. */
static int show_socket(struct pollfd *fds, nfds_t n, int timeout)
{
	if (rename(hidden, socket_path) == 0)
		timeout = 0;
	return real_poll(fds, n, timeout);
}

static int interrupt_poll(struct pollfd *fds, nfds_t n, int timeout)
{
	(void)kill(getpid(), SIGINT);
	return real_poll(fds, n, timeout);
}

static int wait_for_ready(const char *timeout)
{
	char *argv[] = { (char[]){ "swansongctl" },
			 (char[]){ "wait" },
			 (char[]){ "--for" },
			 (char[]){ "ready" },
			 (char[]){ "--timeout" },
			 (char *)(size_t)timeout,
			 NULL };

	return run_argv(argv);
}

START_TEST(a_wait_with_a_limit_awaits_the_daemon)
{
	static const struct answer ready = OK;

	start_server(&ready, 1);
	hide_socket();
	around.on_poll = show_socket;
	ck_assert_int_eq(wait_for_ready("50s"), 0);
	end_server();
	ck_assert_str_eq(out, "root: ready\n");
	ck_assert_str_eq(err, "");
}
END_TEST

START_TEST(an_interrupt_ends_the_wait_for_the_daemon)
{
	around.on_poll = interrupt_poll;
	ck_assert_int_eq(wait_for_ready("50s"), CTL_INTERRUPTED);
	ck_assert_str_eq(err, "swansongctl: interrupted\n");
}
END_TEST

/* It hangs as soon as it is there: the reason is that it was absent, and not the time. */
START_TEST(a_daemon_that_comes_too_late_is_absent)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int waiting = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(listener, 0), 0);
	/* The queue is full. */
	ck_assert_int_eq(connect(waiting, (struct sockaddr *)&address, sizeof(address)), 0);
	hide_socket();
	around.on_poll = show_socket;
	ck_assert_int_eq(wait_for_ready("100ms"), CTL_NO_DAEMON);
	assert_has(err, "the daemon is not running: ");
	(void)close(waiting);
	(void)close(listener);
}
END_TEST

static int skip_time(struct pollfd *fds, nfds_t n, int timeout)
{
	int r = real_poll(fds, n, 0);

	if (r == 0)
		around.skipped_usec += (uint64_t)timeout * USEC_PER_MSEC;
	return r;
}

START_TEST(a_wait_that_takes_too_long_goes_on_without_the_command)
{
	static const struct answer none = { .text = NULL };

	around.on_poll = skip_time;
	ck_assert_int_eq(run("wait web --timeout 90s", &none, 1), CTL_TIMED_OUT);
	ck_assert_str_eq(err, "swansongctl: timed out after 1min 30s\n");
	ck_assert_int_eq(run("stop web --timeout 90s", &none, 1), CTL_TIMED_OUT);
	ck_assert_str_eq(err, "swansongctl: timed out after 1min 30s: stop of web continues; "
			      "see: swansongctl wait --for complete web\n");
}
END_TEST

START_TEST(bytes_have_three_digits_at_most_and_a_unit)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{ 0, "0B" },
		{ 1023, "1023B" },
		{ 1024, "1.0K" },
		{ 1536, "1.5K" },
		{ 100 * 1024, "100K" },
		{ UINT64_C(5) << 20, "5.0M" },
		{ UINT64_C(3) << 40, "3.0T" },
		{ UINT64_MAX, "16.0E" },
	};
	char text[USAGE_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(usage_bytes_text(text, cases[i].bytes), cases[i].text);
}
END_TEST

/* --- without memory --- */

#define MEMORY(line, ...)                                                    \
	{                                                                    \
		line, (const struct answer[]){ __VA_ARGS__ },                \
			ARRAY_SIZE(((const struct answer[]){ __VA_ARGS__ })) \
	}

static const struct {
	const char *line;
	const struct answer *answers;
	size_t n;
} commands[] = {
	MEMORY("guard a -- true", SAY("{\"parameters\":{\"id\":7}}")),
	MEMORY("interrupt edge -- true", SAY(tree), { .text = NULL }),
	MEMORY("status", SAY(tree)),
	MEMORY("tree", SAY(tree)),
	MEMORY("guards", SAY(guards)),
	MEMORY("stop e*", SAY(tree), OK),
};

static int run_without_memory(size_t i, long allocations, bool once)
{
	int status;

	around.allocations = allocations;
	around.fails_once = once;
	status = run(commands[i].line, commands[i].answers, commands[i].n);
	ck_assert_msg(status == 0 || status == CTL_FAILED, "%s: %d", commands[i].line, status);
	return status;
}

START_TEST(without_memory_a_command_ends_with_an_error)
{
	long n = 0;

	while (run_without_memory((size_t)_i, n, false) != 0)
		ck_assert_int_lt(n++, 1000);
	ck_assert_int_gt(n, 1);
	/* Some, such as for a text of an error, are not needed. */
	for (long k = 0; k < n; k++)
		(void)run_without_memory((size_t)_i, k, true);
}
END_TEST

TCase *ctl_session_tests(void)
{
	TCase *tc = tcase_create("session");

	ctl_fixture(tc);
	tcase_add_test(tc, a_wait_with_a_limit_awaits_the_daemon);
	tcase_add_test(tc, an_interrupt_ends_the_wait_for_the_daemon);
	tcase_add_test(tc, a_daemon_that_comes_too_late_is_absent);
	tcase_add_test(tc, a_wait_that_takes_too_long_goes_on_without_the_command);
	tcase_add_test(tc, bytes_have_three_digits_at_most_and_a_unit);
	tcase_add_loop_test(tc, without_memory_a_command_ends_with_an_error, 0,
			    ARRAY_SIZE(commands));
	return tc;
}
