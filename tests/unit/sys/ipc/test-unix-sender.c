#include "tests/unit/fixtures/main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "sys/ipc/unixsock.h"

/*
 * The sender of every byte is known, however early it is sent: also while the connection is being
 * accepted, before an option of its socket can be set.
 */

static char dir[] = "/tmp/test-unix-sender.XXXXXX";
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static struct unix_listener listener;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", dir);
	ck_assert_int_eq(unix_listen(&listener, address.sun_path, 0600, (gid_t)-1), 0);
}

static void teardown(void)
{
	char lock[sizeof(address.sun_path) + 8];

	unix_unlisten(&listener);
	(void)snprintf(lock, sizeof(lock), "%s.lock", address.sun_path);
	(void)unlink(lock);
	(void)rmdir(dir);
}

START_TEST(the_sender_is_known_before_the_connection_is_accepted)
{
	int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ucred sender = { .pid = 0 };
	int server;
	char c;

	ck_assert_int_eq(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
	if (_i == 0)
		ck_assert_int_eq(send(client, "x", 1, MSG_NOSIGNAL), 1);
	server = accept(listener.fd, NULL, NULL);
	ck_assert_int_ge(server, 0);
	if (_i == 1)
		ck_assert_int_eq(send(client, "x", 1, MSG_NOSIGNAL), 1);
	ck_assert_int_eq(unix_receive(server, &c, 1, &sender), 1);
	ck_assert_int_eq(sender.pid, getpid());
	ck_assert_uint_eq(sender.uid, getuid());
	(void)close(server);
	(void)close(client);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("unix-sender");
	TCase *tc = tcase_create("unix-sender");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, the_sender_is_known_before_the_connection_is_accepted, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
