#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/macro.h"
#include "sys/ipc/connections.h"

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/* Addresses to listen at, and those to connect to if they differ. */
static const union address listens[] = {
	{ .in = { .sin_family = AF_INET, .sin_addr.s_addr = 0x0100007f } },
	{ .in = { .sin_family = AF_INET } },
	{ .in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT } },
	{ .in6 = { .sin6_family = AF_INET6 } },
	{ .un = { .sun_family = AF_UNIX } },
};

static union address at;
static socklen_t length;

/* Return: the listening socket, or -1 on a machine without such addresses. */
static int listen_at(const union address *address)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at = *address;
	length = sizeof(at.in6);
	if (at.any.sa_family == AF_UNIX) {
		(void)snprintf(at.un.sun_path, sizeof(at.un.sun_path), "/tmp/test-connections.%d",
			       (int)getpid());
		length = sizeof(at.un);
	} else if (at.any.sa_family == AF_INET) {
		length = sizeof(at.in);
	}
	if (fd < 0)
		return -1;
	if (bind(fd, &at.any, length) < 0) {
		(void)close(fd);
		return -1;
	}
	ck_assert_int_eq(listen(fd, 4), 0);
	ck_assert_int_eq(getsockname(fd, &at.any, &length), 0);
	return fd;
}

static int client(void)
{
	int fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, &at.any, length), 0);
	return fd;
}

START_TEST(a_connection_is_open_until_its_server_closes_it)
{
	int fd = listen_at(&listens[_i]), to, from;

	if (fd < 0)
		return;
	ck_assert_int_eq(connections_are_open(fd), 0);
	from = client();
	ck_assert_int_eq(connections_are_open(fd), 1);
	to = accept(fd, NULL, NULL);
	ck_assert_int_eq(connections_are_open(fd), 1);
	/* The server may still answer. */
	ck_assert_int_eq(shutdown(from, SHUT_WR), 0);
	ck_assert_int_eq(connections_are_open(fd), 1);
	(void)close(to);
	ck_assert_int_eq(connections_are_open(fd), 0);
	(void)close(from);
	(void)close(fd);
	if (at.any.sa_family == AF_UNIX)
		(void)unlink(at.un.sun_path);
}
END_TEST

START_TEST(connections_to_other_sockets_do_not_count)
{
	int fd = listen_at(&listens[0]), other, from;

	other = listen_at(&listens[0]);
	from = client();
	ck_assert_int_eq(connections_are_open(other), 1);
	ck_assert_int_eq(connections_are_open(fd), 0);
	(void)close(from);
	(void)close(other);
	(void)close(fd);
}
END_TEST

START_TEST(datagrams_make_no_connection)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(connections_are_open(fd), 0);
	ck_assert_int_eq(connections_are_open(-1), -EBADF);
	(void)close(fd);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("connections");
	TCase *tc = tcase_create("connections");

	tcase_add_loop_test(tc, a_connection_is_open_until_its_server_closes_it, 0,
			    (int)ARRAY_SIZE(listens));
	tcase_add_test(tc, connections_to_other_sockets_do_not_count);
	tcase_add_test(tc, datagrams_make_no_connection);
	suite_add_tcase(suite, tc);
	return suite;
}
