#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/ipc/connections.h"

static struct sockaddr_in at;
static struct arrivals arrivals;
static int listener;

static void setup(void)
{
	socklen_t length = sizeof(at);

	at = (struct sockaddr_in){ .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&at, length), 0);
	ck_assert_int_eq(listen(listener, 4), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&at, &length), 0);
	ck_assert_int_eq(arrivals_begin(&arrivals, (in_port_t[]){ 1, at.sin_port, 2 }, 3), 0);
	ck_assert_int_eq(arrivals_look(&arrivals), 0);
}

static void teardown(void)
{
	arrivals_end(&arrivals);
	ck_assert_int_eq(arrivals.fd, -1);
	(void)close(listener);
}

static int connect_one(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* The kernel announces an end a little later. */
static void expect_activity(void)
{
	unsigned tries = 0;

	while (arrivals_look(&arrivals) != 1) {
		ck_assert_uint_lt(tries++, 5000);
		(void)usleep(1000);
	}
	ck_assert_int_eq(arrivals_look(&arrivals), 0);
}

START_TEST(connection_that_stays_counts_once)
{
	int client = connect_one(), server;

	ck_assert_int_eq(arrivals_look(&arrivals), 1);
	ck_assert_int_eq(arrivals_look(&arrivals), 0);
	server = accept(listener, NULL, NULL);
	ck_assert_int_eq(arrivals_look(&arrivals), 0);
	(void)close(client);
	(void)close(server);
	expect_activity();
}
END_TEST

/* Its end by the client leaves no trace in the table of connections. */
START_TEST(connection_between_two_looks_counts)
{
	for (int server_ends = 0; server_ends < 2; server_ends++) {
		int client = connect_one(), server = accept(listener, NULL, NULL);
		char byte;

		(void)close(server_ends ? server : client);
		ck_assert_int_eq((int)read(server_ends ? client : server, &byte, 1), 0);
		(void)close(server_ends ? client : server);
		expect_activity();
	}
}
END_TEST

START_TEST(connection_to_each_port_counts)
{
	in_port_t ports[ARRIVALS_PORTS_MAX];

	for (size_t n = 1; n <= ARRIVALS_PORTS_MAX; n++)
		for (size_t i = 0; i < n; i++) {
			int client;

			for (size_t other = 0; other < n; other++)
				ports[other] = htons((uint16_t)(other + 1));
			ports[i] = at.sin_port;
			arrivals_end(&arrivals);
			ck_assert_int_eq(arrivals_begin(&arrivals, ports, n), 0);
			client = connect_one();
			ck_assert_int_eq(arrivals_look(&arrivals), 1);
			(void)close(client);
			(void)close(accept(listener, NULL, NULL));
		}
}
END_TEST

START_TEST(connection_to_another_port_does_not_count)
{
	int client;

	arrivals_end(&arrivals);
	ck_assert_int_eq(arrivals_begin(&arrivals, (in_port_t[]){ 1, 2 }, 2), 0);
	client = connect_one();
	ck_assert_int_eq(arrivals_look(&arrivals), 0);
	(void)close(client);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("arrivals");
	TCase *tc = tcase_create("arrivals");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, connection_that_stays_counts_once);
	tcase_add_test(tc, connection_between_two_looks_counts);
	tcase_add_test(tc, connection_to_each_port_counts);
	tcase_add_test(tc, connection_to_another_port_does_not_count);
	suite_add_tcase(suite, tc);
	return suite;
}
