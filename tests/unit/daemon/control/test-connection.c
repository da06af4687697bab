#include "tests/unit/daemon/control/control-world.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys/ipc/unixsock.h"

/* --- the end of a connection --- */

static struct connection *connection;
static int peer; /* the client's end */
static unsigned closed;

static void on_call(struct connection *c, enum interface_method method,
		    const struct message_call *called, void *arg)
{
	(void)method;
	(void)called;
	(void)arg;
	connection_reply(c, json_object(), false);
}

static void on_closed(struct connection *c, void *arg)
{
	(void)arg;
	closed++;
	connection = connection_free(c);
}

static const struct connection_owner owner = { .call = on_call, .closed = on_closed };

/* The control socket refuses descriptors where the kernel can; this pair does not. */
static void setup(void)
{
	int pair[2];

	begin("");
	closed = 0;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	ck_assert_int_eq(fd_set_nonblock(pair[0]), 0);
	ck_assert_int_eq(unix_pass_credentials(pair[0]), 0);
	ck_assert_int_eq(connection_new(&connection, &ctx, pair[0], &owner), 0);
	peer = pair[1];
}

static void teardown(void)
{
	connection = connection_free(connection);
	(void)fd_close(peer);
	finish();
}

static void send_input(int fd)
{
	struct iovec iov = { .iov_base = (char *)"{", .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union fd_room room;

	if (fd >= 0)
		fd_pass(&msg, &room, fd);
	ck_assert_int_eq(sendmsg(peer, &msg, 0), 1);
}

START_TEST(connection_lasts_until_the_descriptors_of_its_input_are_closed)
{
	struct reap_exit exit = { .pid = 0 };
	char byte;
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	send_input(fds[1]);
	(void)close(fds[1]);
	connection_close_soon(connection);
	ck_assert_uint_eq(closed, 0);
	pass(1);
	ck_assert_uint_eq(closed, 0);
	ck_assert_ptr_nonnull(process_find_kind(&processes, PROCESS_CLOSER));
	ck_assert_int_eq(connection->fd, -1);
	exit.pid = waitpid(-1, NULL, __WALL);
	closer_died(process_find(&processes, exit.pid), &exit);
	ck_assert_uint_eq(closed, 1);
	ck_assert_int_eq(read(fds[0], &byte, 1), 0); /* no copy of the other end is left */
	ck_assert_int_lt(send(peer, &byte, 1, MSG_NOSIGNAL), 0);
	(void)close(fds[0]);
}
END_TEST

/* Unread bytes would make the client see ECONNRESET behind its last reply. */
START_TEST(connection_without_descriptors_is_closed_at_once)
{
	char text[32];

	if (_i)
		send_input(-1);
	connection_reply(connection, json_object(), false);
	connection_close_soon(connection);
	pass(1);
	ck_assert_uint_eq(closed, 1);
	ck_assert_ptr_null(process_find_kind(&processes, PROCESS_CLOSER));
	ck_assert_int_gt(recv(peer, text, sizeof(text), MSG_DONTWAIT), 0);
	ck_assert_int_eq(recv(peer, text, sizeof(text), MSG_DONTWAIT), 0);
}
END_TEST

START_TEST(client_has_a_time_for_its_first_call_only)
{
	static const char text[] = "{\"method\":\"io.swansong.Status\"}";

	if (_i) {
		ck_assert_int_eq(send(peer, text, sizeof(text), 0), sizeof(text));
		ck_assert_int_gt(sd_event_run(ctx.event, 0), 0);
	}
	pass(CONNECTION_IDLE_USEC - SEC);
	ck_assert_uint_eq(closed, 0);
	pass(2 * SEC);
	ck_assert_uint_eq(closed, _i ? 0 : 1);
}
END_TEST

/* --- connections that cannot be accepted --- */

static int accept_error; /* 0: none */
static unsigned failures, attempts;

int __real_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
	attempts++;
	if (failures == 0)
		return __real_accept4(fd, address, length, flags);
	failures--;
	errno = accept_error;
	return -1;
}

START_TEST(failing_accept_is_tried_again_after_a_pause)
{
	int client;

	control_begin("[web]\n");
	accept_error = _i ? EMFILE : ENOMEM;
	failures = UINT_MAX;
	attempts = 0;
	client = client_new(); /* a loop without a pause would not end */
	ck_assert_uint_eq(attempts, _i ? 2 : 1);
	failures = 0;
	serve();
	ck_assert_uint_eq(attempts, _i ? 2 : 1);
	serve_later(SEC);
	call(client, "Status", "\"node\":\"web\"");
	expect_in_reply(client, "{\"parameters\":{\"nodes\":[");
	(void)close(client);
}
END_TEST

START_TEST(without_a_descriptor_a_client_is_refused_and_does_not_wait)
{
	int client;

	control_begin("[web]\n");
	accept_error = EMFILE;
	failures = 1;
	client = client_new();
	expect_reply(client, "end");
	(void)close(client);
	ck_assert_int_ge(ctx.descriptors.spare, 0);
	client = client_new();
	call(client, "Status", "");
	expect_in_reply(client, "{\"parameters\":{\"nodes\":[");
	(void)close(client);
}
END_TEST

START_TEST(interrupted_accept_is_no_failure)
{
	int client;

	control_begin("[web]\n");
	accept_error = EINTR;
	failures = 1;
	client = client_new();
	call(client, "Status", "");
	expect_in_reply(client, "{\"parameters\":{\"nodes\":[");
	(void)close(client);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("connections");
	TCase *tc = tcase_create("ends");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, connection_lasts_until_the_descriptors_of_its_input_are_closed);
	tcase_add_loop_test(tc, connection_without_descriptors_is_closed_at_once, 0, 2);
	tcase_add_loop_test(tc, client_has_a_time_for_its_first_call_only, 0, 2);
	suite_add_tcase(s, tc);

	tc = control_case("accepts");
	tcase_add_loop_test(tc, failing_accept_is_tried_again_after_a_pause, 0, 2);
	tcase_add_test(tc, without_a_descriptor_a_client_is_refused_and_does_not_wait);
	tcase_add_test(tc, interrupted_accept_is_no_failure);
	suite_add_tcase(s, tc);
	return s;
}
