/* The agent of a node, asked over a socket as a balancer does. */
#include "tests/unit/fixtures/daemon/live-world.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/node/agent.h"

#define WEB "[web]\nagent = unix:@/agent\ncommand = sleep 100\n"

static int call(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_int_ge(fd, 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/agent", directory);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* Waits for the end of the connection, and returns the reply. */
static const char *reply_to(int fd)
{
	uint64_t until = clock_now_usec() + 20 * SEC;
	static char text[256];
	size_t used = 0;
	ssize_t n = -1;

	while (n != 0 && clock_now_usec() < until) {
		n = recv(fd, text + used, sizeof(text) - 1 - used, 0);
		if (n > 0)
			used += (size_t)n;
		else if (n < 0)
			live_turn();
	}
	ck_assert_int_eq(n, 0);
	(void)close(fd);
	text[used] = '\0';
	return text;
}

static int with_descriptor(int fd)
{
	char byte = 'x', buf[CMSG_SPACE(sizeof(int))] = "";
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = buf,
		.msg_controllen = sizeof(buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &(int){ STDERR_FILENO }, sizeof(int));
	/* Newer kernels refuse it, as the socket does not want descriptors. */
	(void)sendmsg(fd, &msg, MSG_NOSIGNAL);
	return fd;
}

static int with_bytes(int fd, size_t size)
{
	static char bytes[8192];

	ck_assert_int_eq(send(fd, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
	return fd;
}

START_TEST(agent_answers_with_the_word_of_the_moment)
{
	script("run", "trap '' TERM; echo >ready; while :; do sleep 100; done\n");
	live_begin("[web]\nagent = unix:@/agent\nautostart = no\ncommand = sh run\n");
	ck_assert_str_eq(reply_to(call()), "down\n");
	ck_assert_int_eq(start("web"), 0);
	await_line("ready");
	await("web up");
	ck_assert_str_eq(reply_to(call()), "up ready\n");
	stop("web");
	ck_assert_str_eq(reply_to(call()), "drain\n");
	force("web");
	await("web down");
	ck_assert_str_eq(reply_to(call()), "down\n");
}
END_TEST

/* Bytes of a client are not read: some are in the queue when the connection is closed. */
START_TEST(agent_answers_again_after_any_input)
{
	live_begin(WEB);
	await("web up");
	for (int i = 0; i < 3; i++) {
		ck_assert_str_eq(reply_to(with_bytes(call(), 5)), "up ready\n");
		ck_assert_str_eq(reply_to(with_bytes(call(), 8000)), "up ready\n");
		ck_assert_str_eq(reply_to(with_descriptor(call())), "up ready\n");
		ck_assert_str_eq(reply_to(call()), "up ready\n");
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("agent");
	TCase *tc = live_case("agent");

	tcase_add_test(tc, agent_answers_with_the_word_of_the_moment);
	tcase_add_test(tc, agent_answers_again_after_any_input);
	suite_add_tcase(s, tc);
	return s;
}
