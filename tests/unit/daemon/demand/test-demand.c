/* Services with a real socket in the directory of scratch.h, and the time of tree-world.h. */
#include "daemon/node/calls.h"
#include "tests/unit/fixtures/daemon/tree-world.h"
#include "tests/unit/fixtures/scratch.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void teardown(void)
{
	finish();
	remove_directory();
}

static void begin_on_demand(const char *keys)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		       "[web]\ncommand = x\nlisten = unix:%s/s\nautostart = on-demand\n%s",
		       directory, keys);
	begin(text);
}

static int connect_to_it(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/s", directory);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void serve(void)
{
	for (int i = 0; i < 100 && sd_event_run(ctx.event, 0) > 0; i++)
		turns();
}

START_TEST(connection_starts_the_service)
{
	int fd;

	begin_on_demand("");
	serve();
	expect("web down");
	fd = connect_to_it();
	serve();
	expect("web up");
	(void)close(fd);
}
END_TEST

START_TEST(connection_does_not_start_a_stopped_service)
{
	int fd;

	begin_on_demand("");
	stop("web");
	fd = connect_to_it();
	serve();
	expect("web down");
	(void)close(fd);
}
END_TEST

START_TEST(unused_service_rests_until_the_next_connection)
{
	int fd;

	begin_on_demand("idle-timeout = 30s\n");
	ck_assert_int_eq(start("web"), 0);
	pass(29 * SEC);
	expect("web up");
	pass(2 * SEC);
	expect("web stopping");
	ends("web", 0);
	expect("web down");
	fd = connect_to_it();
	serve();
	expect("web up");
	(void)close(fd);
}
END_TEST

START_TEST(connection_begins_another_idle_period)
{
	int fd;

	begin_on_demand("idle-timeout = 30s\n");
	ck_assert_int_eq(start("web"), 0);
	pass(20 * SEC);
	fd = connect_to_it();
	serve();
	pass(20 * SEC);
	expect("web up");
	(void)close(fd);
}
END_TEST

START_TEST(guard_keeps_the_service_up)
{
	struct lease *lease;

	begin_on_demand("idle-timeout = 30s\n");
	ck_assert_int_eq(start("web"), 0);
	lease = hold("web");
	pass(100 * SEC);
	expect("web up");
	release(lease);
	pass(100 * SEC);
	expect("web stopping");
}
END_TEST

START_TEST(without_an_idle_timeout_the_service_stays_up)
{
	begin_on_demand("");
	ck_assert_int_eq(start("web"), 0);
	pass(1000 * SEC);
	expect("web up");
}
END_TEST

/* Only ports of TCP have connections that come and go between two looks. */
START_TEST(connections_of_other_sockets_are_not_watched)
{
	begin_on_demand("idle-timeout = 30s\n");
	ck_assert_int_eq(start("web"), 0);
	ck_assert_uint_ne(service("web")->calls->alarm.usec, USEC_INFINITY);
	ck_assert_int_lt(service("web")->calls->arrivals.fd, 0);
	ck_assert(!service("web")->calls->unknown);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("services on demand");
	TCase *tc = tcase_create("demand");

	tcase_add_checked_fixture(tc, make_directory, teardown);
	tcase_add_test(tc, connection_starts_the_service);
	tcase_add_test(tc, connection_does_not_start_a_stopped_service);
	tcase_add_test(tc, unused_service_rests_until_the_next_connection);
	tcase_add_test(tc, connection_begins_another_idle_period);
	tcase_add_test(tc, guard_keeps_the_service_up);
	tcase_add_test(tc, without_an_idle_timeout_the_service_stays_up);
	tcase_add_test(tc, connections_of_other_sockets_are_not_watched);
	suite_add_tcase(s, tc);
	return s;
}
