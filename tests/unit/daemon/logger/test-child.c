/* The start of the logger, its socket at the end of the daemon, and the streams that readers get. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/logger/log-stream.h"
#include "daemon/logger/logging.h"
#include "daemon/logger/state.h"
#include "daemon/writer/ending.h"

static void ignore(struct logger_child *child)
{
	(void)child;
}

START_TEST(logger_starts_regardless_of_earlier_errors)
{
	struct logger_child child;
	pid_t pid;

	begin("[web]\ncommand = x\n");
	ck_assert_int_eq(setenv("SWANSONG_LOGGER", "/bin/true", 1), 0);
	logger_child_init(&child, &ctx);
	child.on_unusable = ignore;
	errno = EIO;
	logger_child_want(&child);
	pid = child.process.pid;
	ck_assert_int_gt(pid, 0);
	ck_assert(logger_child_is_usable(&child));
	logger_child_done(&child);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

/* Fills the socket. */
static void send_until_full(int fd)
{
	char text[1024] = "";

	while (send(fd, text, sizeof(text), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
}

START_TEST(end_of_the_daemon_waits_for_room_in_the_socket)
{
	struct logger_child child = { .socket = -1 };
	uint64_t until;
	int fds[2];

	begin("[web]\ncommand = x\n");
	ck_assert(!logger_child_await_room(&child, clock_now_usec() + SEC));
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	child.socket = fds[0];
	until = clock_now_usec() + 10 * SEC;
	ck_assert(logger_child_await_room(&child, until));
	ck_assert(!logger_child_await_room(&child, clock_now_usec()));
	send_until_full(fds[0]);
	(void)close(fds[1]);
	ck_assert(!logger_child_await_room(&child, until));
	(void)close(fds[0]);
}
END_TEST

static char names[64];

static int add_name(const struct log_stream *stream, void *arg)
{
	(void)strcat(strcat(names, stream->name), " ");
	return *(const int *)arg;
}

static const char *new_streams(struct logging *logger, uint64_t *serial, int result)
{
	*names = '\0';
	ck_assert_int_eq(logging_each_new(logger, serial, add_name, &result), *names ? result : 0);
	return names;
}

static struct log_stream *add_stream(struct logging *logger, const char *name, unsigned memory)
{
	const struct logger_rules rules = { .to = LOGGER_TO_MEMORY, .memory = memory };
	struct log_stream *stream;

	ck_assert_int_eq(log_stream_get(&stream, logger, name, LOGGER_OUTPUT), 0);
	ck_assert_int_eq(log_stream_use(stream, &rules, ""), 0);
	return stream;
}

START_TEST(reader_gets_each_stream_with_a_memory_once)
{
	struct logging *logger;
	uint64_t serial = 0;

	begin("[web]\ncommand = x\n");
	ck_assert_int_eq(logging_new(&logger, &ctx, &(struct credentials){ .set = false }), 0);
	(void)add_stream(logger, "a", 4096);
	(void)add_stream(logger, "none", 0);
	(void)add_stream(logger, "b", 4096);
	ck_assert_str_eq(new_streams(logger, &serial, -EAGAIN), "a ");
	ck_assert_str_eq(new_streams(logger, &serial, 0), "a b ");
	ck_assert_str_eq(new_streams(logger, &serial, 0), "");
	(void)add_stream(logger, "c", 4096);
	(void)add_stream(logger, "none-2", 0);
	ck_assert_str_eq(new_streams(logger, &serial, 0), "c ");
	ck_assert_str_eq(new_streams(logger, &serial, 0), "");
	logging_free(logger);
}
END_TEST

START_TEST(stream_that_is_being_removed_is_not_new)
{
	struct logging *logger;
	uint64_t serial = 0;
	struct log_stream *stream;

	begin("[web]\ncommand = x\n");
	ck_assert_int_eq(logging_new(&logger, &ctx, &(struct credentials){ .set = false }), 0);
	stream = add_stream(logger, "a", 4096);
	stream->refs = 0;
	(void)add_stream(logger, "b", 4096);
	ck_assert_str_eq(new_streams(logger, &serial, 0), "b ");
	logging_free(logger);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("process of the logger");
	TCase *tc = tree_case("child");

	tcase_add_test(tc, logger_starts_regardless_of_earlier_errors);
	tcase_add_test(tc, end_of_the_daemon_waits_for_room_in_the_socket);
	tcase_add_test(tc, reader_gets_each_stream_with_a_memory_once);
	tcase_add_test(tc, stream_that_is_being_removed_is_not_new);
	suite_add_tcase(suite, tc);
	return suite;
}
