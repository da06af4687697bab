/* Sockets at an address of the internet protocols. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/unit/fixtures/spawned.h"
#include "sys/ipc/inetsock.h"

/* A port that the kernel chooses at the first call, and the same one later. */
static struct sockaddr_in at;

static void setup(void)
{
	at = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int open_at(int type)
{
	socklen_t length = sizeof(at);
	int fd = inet_listen((const struct sockaddr *)&at, length, type);

	if (fd >= 0)
		ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &length), 0);
	return fd;
}

static int connect_one(int type)
{
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

START_TEST(stream_listens_and_blocks)
{
	int fd = open_at(SOCK_STREAM), client, server;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	client = connect_one(SOCK_STREAM);
	server = accept(fd, NULL, NULL);
	ck_assert_int_ge(server, 0);
	(void)close(server);
	(void)close(client);
	(void)close(fd);
}
END_TEST

START_TEST(datagram_is_received)
{
	int fd = open_at(SOCK_DGRAM), client;
	char buf[8];

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert(!(fcntl(fd, F_GETFL) & O_NONBLOCK));
	client = connect_one(SOCK_DGRAM);
	ck_assert_int_eq(send(client, "hello", 5, 0), 5);
	ck_assert_int_eq(recv(fd, buf, sizeof(buf), MSG_DONTWAIT), 5);
	(void)close(client);
	(void)close(fd);
}
END_TEST

/* Datagrams, too: SO_REUSEADDR would give them to the later socket. */
START_TEST(address_has_one_socket)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		unsigned before;
		int fd;

		setup();
		fd = open_at(types[i]);
		ck_assert_int_ge(fd, 0);
		before = spawned_count_descriptors(getpid());
		ck_assert_int_eq(open_at(types[i]), -EADDRINUSE);
		ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);
		(void)close(fd);
		fd = open_at(types[i]);
		ck_assert_int_ge(fd, 0);
		(void)close(fd);
	}
}
END_TEST

/* The end that closes first keeps the connection for a while. */
START_TEST(remaining_connection_does_not_block_the_address)
{
	int fd = open_at(SOCK_STREAM), client = connect_one(SOCK_STREAM), server;
	char byte;

	server = accept(fd, NULL, NULL);
	(void)close(server);
	ck_assert_int_eq(read(client, &byte, 1), 0);
	(void)close(client);
	(void)close(fd);
	fd = open_at(SOCK_STREAM);
	ck_assert_int_ge(fd, 0);
	(void)close(fd);
}
END_TEST

START_TEST(unknown_address_is_refused)
{
	at.sin_family = AF_MAX;
	ck_assert_int_eq(open_at(SOCK_STREAM), -EAFNOSUPPORT);
	at.sin_family = AF_INET;
	ck_assert_int_eq(inet_listen((const struct sockaddr *)&at, 4, SOCK_STREAM), -EINVAL);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("inetsock");
	TCase *tc = tcase_create("inetsock");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, stream_listens_and_blocks);
	tcase_add_test(tc, datagram_is_received);
	tcase_add_test(tc, address_has_one_socket);
	tcase_add_test(tc, remaining_connection_does_not_block_the_address);
	tcase_add_test(tc, unknown_address_is_refused);
	suite_add_tcase(s, tc);
	return s;
}
