/* Sockets that a child of the test holds. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/ipc/held.h"

/* In the child: a listener, its connection, a socket of datagrams at the same port, and one without an address. */
static struct sockaddr_in at;
static pid_t holder;

static int open_at(int type)
{
	int fd = socket(AF_INET, type, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static _Noreturn void hold(int up)
{
	int listener = open_at(SOCK_STREAM), client = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t length = sizeof(at);

	(void)alarm(60);
	if (listen(listener, 1) < 0 || getsockname(listener, (struct sockaddr *)&at, &length) < 0 ||
	    connect(client, (struct sockaddr *)&at, sizeof(at)) < 0)
		_exit(1);
	/* Copies before and behind the listener: neither of the connections listens. */
	if (dup2(accept(listener, NULL, NULL), 60) < 0 || dup2(listener, 50) < 0 ||
	    dup2(open_at(SOCK_DGRAM), 70) < 0 || dup2(socket(AF_UNIX, SOCK_STREAM, 0), 80) < 0)
		_exit(2);
	_exit(write(up, &at, sizeof(at)) != sizeof(at) || pause());
}

static void setup(void)
{
	int up[2];

	at = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	ck_assert_int_eq(pipe(up), 0);
	holder = fork();
	ck_assert_int_ge(holder, 0);
	if (holder == 0)
		hold(up[1]);
	(void)close(up[1]);
	ck_assert_int_eq(read(up[0], &at, sizeof(at)), sizeof(at));
	(void)close(up[0]);
}

static void teardown(void)
{
	(void)kill(holder, SIGKILL);
	ck_assert_int_eq(waitpid(holder, NULL, 0), holder);
}

static int take_type(int type)
{
	return held_take(holder, (const struct sockaddr *)&at, sizeof(at), type);
}

/* A kernel before 5.6, or one that lets no process trace another. */
static bool is_refused(int r)
{
	if (r == -ENOSYS || r == -EPERM)
		(void)printf("# SKIP machine: no descriptor of another process: %s\n",
			     strerror(-r));
	return r == -ENOSYS || r == -EPERM;
}

START_TEST(listener_is_taken)
{
	int fd = take_type(SOCK_STREAM), client, server;

	if (is_refused(fd))
		return;
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(client, (struct sockaddr *)&at, sizeof(at)), 0);
	server = accept(fd, NULL, NULL);
	ck_assert_int_ge(server, 0);
	(void)close(server);
	(void)close(client);
	(void)close(fd);
}
END_TEST

START_TEST(socket_of_datagrams_is_taken)
{
	int fd = take_type(SOCK_DGRAM), client;
	char buf[8];

	if (is_refused(fd))
		return;
	ck_assert_int_ge(fd, 0);
	client = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(sendto(client, "x", 1, 0, (struct sockaddr *)&at, sizeof(at)), 1);
	ck_assert_int_eq(recv(fd, buf, sizeof(buf), MSG_DONTWAIT), 1);
	(void)close(client);
	(void)close(fd);
}
END_TEST

START_TEST(other_socket_is_not_taken)
{
	int r = take_type(SOCK_RAW);

	if (is_refused(r))
		return;
	ck_assert_int_eq(r, -ENOENT);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
	ck_assert_int_eq(take_type(SOCK_STREAM), -ENOENT);
	ck_assert_int_eq(take_type(SOCK_DGRAM), -ENOENT);
	ck_assert_int_lt(held_take(1 << 30, (const struct sockaddr *)&at, sizeof(at), SOCK_STREAM),
			 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("held");
	TCase *tc = tcase_create("held");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, listener_is_taken);
	tcase_add_test(tc, socket_of_datagrams_is_taken);
	tcase_add_test(tc, other_socket_is_not_taken);
	suite_add_tcase(s, tc);
	return s;
}
