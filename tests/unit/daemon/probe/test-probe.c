/* Single checks: connections and requests that this test answers, and commands. */
#include "tests/unit/fixtures/daemon/live-world.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/probe/attempt.h"
#include "daemon/probe/probe.h"
#include "daemon/reap/orphans.h"

#define TIMEOUT (20 * SEC)

static struct probe *probe;
static struct probe_config config;
static union inet_address address;
static char text[128], result[256];
static bool has_result;
static int listener = -1;

static void on_result(void *arg, const char *why)
{
	ck_assert_ptr_eq(arg, result);
	ck_assert(!has_result);
	has_result = true;
	(void)snprintf(result, sizeof(result), "%s", why ? why : "success");
}

static void make_probe(void)
{
	live_begin("[web]\ncommand = sleep 100\n");
	await("web up");
	ck_assert_int_eq(
		probe_new(&probe, &ctx, &config, &service("web")->setup.launch, on_result, result),
		0);
}

static void begin_check(uint64_t timeout_usec)
{
	has_result = false;
	probe_begin(probe, &service("web")->main, timeout_usec);
	ck_assert(!has_result); /* never from inside */
}

static const char *await_result(void)
{
	uint64_t until = clock_now_usec() + 2 * TIMEOUT;

	while (!has_result && clock_now_usec() < until)
		live_turn();
	ck_assert(has_result);
	return result;
}

static const char *check_once(void)
{
	begin_check(TIMEOUT);
	return await_result();
}

static void finish_probe(void)
{
	probe = probe_free(probe);
	if (listener >= 0)
		(void)close(listener);
	listener = -1;
}

/* --- connections --- */

static int listen_at(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_ge(listener, 0);
	ck_assert_uint_lt(strlen(path), sizeof(un.sun_path));
	(void)strcpy(un.sun_path, path);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&un, sizeof(un)), 0);
	ck_assert_int_eq(listen(listener, 5), 0);
	return listener;
}

/* Makes a path of @length bytes. */
static void use_path(size_t length)
{
	ck_assert_uint_lt(length, sizeof(text));
	memset(text, 'x', length);
	memcpy(text, directory, strlen(directory));
	text[strlen(directory)] = '/';
	text[length] = '\0';
	config = (struct probe_config){ .kind = PROBE_UNIX, .text = text };
}

static void use_address(enum probe_kind kind)
{
	socklen_t length = sizeof(address.in);

	address.in = (struct sockaddr_in){ .sin_family = AF_INET,
					   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_ge(listener, 0);
	ck_assert_int_eq(bind(listener, &address.any, length), 0);
	ck_assert_int_eq(listen(listener, 5), 0);
	ck_assert_int_eq(getsockname(listener, &address.any, &length), 0);
	(void)snprintf(text, sizeof(text), "127.0.0.1:%u/there", ntohs(address.in.sin_port));
	config = (struct probe_config){ .kind = kind, .text = text, .address = &address };
}

START_TEST(service_that_listens_at_a_path_succeeds)
{
	static const size_t lengths[] = { 30, sizeof(((struct sockaddr_un *)0)->sun_path) - 1 };

	use_path(lengths[_i]);
	make_probe();
	ck_assert_str_eq(check_once(), "connect: No such file or directory");
	listen_at(text);
	ck_assert_str_eq(check_once(), "success");
	ck_assert_str_eq(check_once(), "success");
	(void)close(listener);
	listener = -1;
	ck_assert_str_eq(check_once(), "connect: Connection refused");
}
END_TEST

START_TEST(service_that_listens_at_a_port_succeeds)
{
	use_address(PROBE_TCP);
	make_probe();
	ck_assert_str_eq(check_once(), "success");
	(void)close(listener);
	listener = -1;
	ck_assert_str_eq(check_once(), "connect: Connection refused");
}
END_TEST

/* --- requests --- */

static int accept_one(void)
{
	uint64_t until = clock_now_usec() + TIMEOUT;
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) < 0 &&
	       clock_now_usec() < until)
		live_turn();
	ck_assert_int_ge(fd, 0);
	return fd;
}

/* Reads the request to its end. */
static void expect_request(int fd)
{
	char expected[256], request[512] = "";
	uint64_t until = clock_now_usec() + TIMEOUT;
	size_t used = 0;

	while (!strstr(request, "\r\n\r\n") && clock_now_usec() < until) {
		ssize_t n = recv(fd, request + used, sizeof(request) - 1 - used, 0);

		if (n > 0)
			used += (size_t)n;
		else
			live_turn();
	}
	(void)snprintf(expected, sizeof(expected), "GET /there HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n",
		       ntohs(address.in.sin_port));
	ck_assert_ptr_eq(strstr(request, expected), request);
}

static void answer(int fd, const char *reply, size_t length)
{
	ck_assert_int_eq(send(fd, reply, length, MSG_NOSIGNAL), (ssize_t)length);
}

static const struct {
	const char *reply, *result;
} replies[] = {
	{ "HTTP/1.1 200 OK\r\n\r\n", "success" },
	{ "HTTP/1.0 302 Found\r\n\r\n", "success" },
	{ "HTTP/1.1 404 Not Found\r\n\r\n", "HTTP status 404" },
	{ "HTTP/1.1 503\r\n\r\n", "HTTP status 503" },
	{ "HTTP/1.1 100 Continue\r\n\r\n", "HTTP status 100" },
	{ "220 mail\r\n", "the answer is not HTTP" },
	{ "", "closed without an answer" },
	{ "HTTP/1.1 2", "closed without an answer" },
};

START_TEST(status_of_the_answer_is_the_result)
{
	int fd;

	use_address(PROBE_HTTP);
	make_probe();
	begin_check(TIMEOUT);
	fd = accept_one();
	expect_request(fd);
	answer(fd, replies[_i].reply, strlen(replies[_i].reply));
	(void)close(fd);
	ck_assert_str_eq(await_result(), replies[_i].result);
}
END_TEST

START_TEST(answer_may_come_in_pieces)
{
	static const char reply[] = "HTTP/1.1 204 ";
	int fd;

	use_address(PROBE_HTTP);
	make_probe();
	begin_check(TIMEOUT);
	fd = accept_one();
	expect_request(fd);
	for (size_t i = 0; i < sizeof(reply) - 1; i++) {
		ck_assert(!has_result);
		answer(fd, reply + i, 1);
		live_turn();
	}
	ck_assert_str_eq(await_result(), "success");
	(void)close(fd);
}
END_TEST

START_TEST(missing_answer_is_a_failure_at_the_timeout)
{
	use_address(PROBE_HTTP);
	make_probe();
	begin_check(50 * USEC_PER_MSEC);
	ck_assert_str_eq(await_result(), "no answer in time");
}
END_TEST

/* --- commands --- */

static void use_command(const char *script_text)
{
	static char sh[] = "sh", file[] = "check", none[] = "/nonexistent/check";
	static char *argv[] = { sh, file, NULL }, *missing[] = { none, NULL };

	if (script_text)
		script("check", script_text);
	config = (struct probe_config){ .kind = PROBE_EXEC, .argv = script_text ? argv : missing };
}

static void await_no_command(void)
{
	uint64_t until = clock_now_usec() + TIMEOUT;

	while (probe_process(probe) && clock_now_usec() < until)
		live_turn();
	ck_assert_ptr_null(probe_process(probe));
	ck_assert_uint_eq(swansong_guard_count(find("web")->handle), 1);
}

static const struct {
	const char *script, *result;
} commands[] = {
	{ "exit 0\n", "success" },
	{ "echo all is well\n", "success" },
	{ "exit 7\n", "exit status 7" },
	{ "echo one; echo two; exit 1\n", "exit status 1: two" },
	{ "printf 'no end' >&2; exit 2\n", "exit status 2: no end" },
	{ "kill -USR1 $$\n", "killed by SIGUSR1" },
	{ "echo why; kill $$\n", "killed by SIGTERM: why" },
	{ "echo one; echo by its name >/dev/stderr; exit 3\n", "exit status 3: by its name" },
	{ "printf 'a\\0b'; exit 4\n", "exit status 4: a?b" },
	{ "ulimit -c 0; exec yes\n", "killed by SIGXFSZ: y" },
	{ NULL, "cannot execute /nonexistent/check: No such file or directory" },
};

/* The second check shows that nothing of the first one remains. */
START_TEST(end_of_the_command_is_the_result)
{
	use_command(commands[_i].script);
	make_probe();
	for (int i = 0; i < 2; i++) {
		ck_assert_str_eq(check_once(), commands[_i].result);
		await_no_command();
	}
}
END_TEST

START_TEST(command_holds_the_node_until_it_is_collected)
{
	use_command("echo $$ >pid; exec sleep 100\n");
	make_probe();
	begin_check(TIMEOUT);
	ck_assert_int_eq(await_pid("pid"), probe_process(probe)->pid);
	ck_assert_uint_eq(swansong_guard_count(find("web")->handle), 2);
	probe_cancel(probe);
	await_no_command();
	ck_assert_int_lt(kill(await_pid("pid"), 0), 0);
	ck_assert(!has_result);
}
END_TEST

/* The end may be collected before the message that the program cannot be run. */
START_TEST(failed_start_is_a_result_as_soon_as_its_process_is_dead)
{
	uint64_t until = clock_now_usec() + TIMEOUT;

	use_command(NULL);
	make_probe();
	begin_check(TIMEOUT);
	while (probe_process(probe) && clock_now_usec() < until)
		(void)orphans_reap(orphans);
	ck_assert_ptr_null(probe_process(probe));
	ck_assert_str_eq(await_result(), "cannot execute /nonexistent/check: No such file or directory");
	await_no_command();
}
END_TEST

static int refuse(const struct launch_program *program, const struct process *process,
		  struct launch_failure *failure)
{
	(void)program;
	(void)process;
	*failure = (struct launch_failure){ .error = EAGAIN, .step = "make a process" };
	return LAUNCH_E_FAILED;
}

START_TEST(check_without_a_process_is_a_failure_and_holds_nothing)
{
	use_command("exit 0\n");
	make_probe();
	on_launch = refuse;
	live = false;
	begin_check(TIMEOUT);
	live = true;
	ck_assert_uint_eq(swansong_guard_count(find("web")->handle), 1);
	ck_assert_str_eq(await_result(), "cannot make a process: Resource temporarily unavailable");
	ck_assert_str_eq(check_once(), "success");
}
END_TEST

START_TEST(cancelled_check_without_a_program_leaves_nothing)
{
	use_command(NULL);
	make_probe();
	begin_check(TIMEOUT);
	probe_cancel(probe);
	await_no_command();
	ck_assert(!has_result);
}
END_TEST

START_TEST(command_that_exceeds_its_time_is_killed)
{
	use_command("echo waiting; echo $$ >pid; exec sleep 100\n");
	make_probe();
	begin_check(TIMEOUT);
	await_pid("pid");
	begin_check(SEC / 20); /* instead of the former */
	ck_assert_ptr_nonnull(strstr(await_result(), "of the one before has not ended yet"));
	await_no_command();
	begin_check(SEC / 20);
	ck_assert_ptr_eq(strstr(await_result(), "no answer in time"), result);
	await_no_command();
}
END_TEST

static TCase *of_commands(void)
{
	TCase *tc = live_case("commands");

	tcase_add_checked_fixture(tc, NULL, finish_probe);
	tcase_add_loop_test(tc, end_of_the_command_is_the_result, 0, ARRAY_SIZE(commands));
	tcase_add_test(tc, command_holds_the_node_until_it_is_collected);
	tcase_add_test(tc, failed_start_is_a_result_as_soon_as_its_process_is_dead);
	tcase_add_test(tc, check_without_a_process_is_a_failure_and_holds_nothing);
	tcase_add_test(tc, cancelled_check_without_a_program_leaves_nothing);
	tcase_add_test(tc, command_that_exceeds_its_time_is_killed);
	return tc;
}

Suite *test_suite(void)
{
	Suite *s = suite_create("probe");
	TCase *tc = live_case("connections");

	tcase_add_checked_fixture(tc, NULL, finish_probe);
	tcase_add_loop_test(tc, service_that_listens_at_a_path_succeeds, 0, 2);
	tcase_add_test(tc, service_that_listens_at_a_port_succeeds);
	tcase_add_loop_test(tc, status_of_the_answer_is_the_result, 0, ARRAY_SIZE(replies));
	tcase_add_test(tc, answer_may_come_in_pieces);
	tcase_add_test(tc, missing_answer_is_a_failure_at_the_timeout);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, of_commands());
	return s;
}
