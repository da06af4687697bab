#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/ipc/listeners.h"

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static const union address loopback = { .in = { .sin_family = AF_INET,
						.sin_addr.s_addr = 0x0100007f } };
static const union address any = { .in = { .sin_family = AF_INET } };
static const union address loopback6 = { .in6 = { .sin6_family = AF_INET6,
						  .sin6_addr = IN6ADDR_LOOPBACK_INIT } };
static const union address any6 = { .in6 = { .sin6_family = AF_INET6 } };
/* 127.0.0.2 */
static const union address other = { .in = { .sin_family = AF_INET,
					     .sin_addr.s_addr = 0x0200007f } };

/* Return: the descriptor, or -1 on a machine without such addresses; @address gets the port. */
static int listen_at(union address *address)
{
	socklen_t length = sizeof(*address);
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (bind(fd, &address->any, length) < 0) {
		(void)close(fd);
		return -1;
	}
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, &address->any, &length), 0);
	return fd;
}

static const struct row {
	const union address *listener, *probe;
	unsigned n;
} rows[] = {
	{ &loopback, &loopback, 1 },   { &any, &loopback, 1 },	{ &other, &loopback, 0 },
	{ &loopback, &other, 0 },      { &any6, &loopback, 1 }, { &any6, &loopback6, 1 },
	{ &loopback6, &loopback6, 1 }, { &any, &loopback6, 0 }, { &loopback6, &loopback, 0 },
};

START_TEST(a_listener_is_found_where_a_connection_reaches_it)
{
	union address at = *rows[_i].listener, probe = *rows[_i].probe;
	struct listeners found;
	int fd = listen_at(&at);

	/* A machine without IPv6. */
	if (fd < 0 && at.any.sa_family == AF_INET6)
		return;
	ck_assert_int_ge(fd, 0);
	probe.in.sin_port = at.in.sin_port;
	ck_assert_int_eq(listeners_find(&probe.any, &found), 0);
	ck_assert_uint_eq(found.n, rows[_i].n);
	if (found.n)
		ck_assert_uint_eq(found.uid, geteuid());
	(void)close(fd);
	ck_assert_int_eq(listeners_find(&probe.any, &found), 0);
	ck_assert_uint_eq(found.n, 0);
}
END_TEST

static bool is_mine(pid_t pid, void *arg)
{
	++*(unsigned *)arg;
	return pid == getpid();
}

static bool is_of_child(pid_t pid, void *arg)
{
	++*(unsigned *)arg;
	return pid == *((pid_t *)arg + 1);
}

START_TEST(its_holders_are_found)
{
	struct {
		unsigned n;
		pid_t child;
	} seen = { .n = 0 };
	unsigned budget = UINT_MAX, none = 1;
	union address at = loopback;
	struct listeners found;
	int fd = listen_at(&at);

	ck_assert_int_eq(listeners_find(&at.any, &found), 0);
	ck_assert_int_eq(listeners_each_holder(&found, &budget, is_mine, &seen), 1);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_lt(budget, UINT_MAX);
	ck_assert(listeners_held_by(&found, getpid(), &budget));
	ck_assert(!listeners_held_by(&found, getpid(), &none));
	ck_assert_uint_eq(none, 0);
	ck_assert_int_eq(listeners_each_holder(&found, &none, is_mine, &seen), -E2BIG);

	seen.n = 0;
	seen.child = fork();
	ck_assert_int_ge(seen.child, 0);
	if (seen.child == 0) {
		(void)pause();
		_exit(0);
	}
	(void)close(fd);
	ck_assert(!listeners_held_by(&found, getpid(), &budget));
	ck_assert_int_eq(listeners_each_holder(&found, &budget, is_of_child, &seen), 1);
	(void)kill(seen.child, SIGKILL);
	ck_assert_int_eq(waitpid(seen.child, NULL, 0), seen.child);
	ck_assert_int_eq(listeners_each_holder(&found, &budget, is_mine, &seen), 0);
}
END_TEST

START_TEST(connections_are_no_listeners)
{
	union address at = loopback;
	int fd = listen_at(&at), client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), peer;
	struct listeners found, before;

	ck_assert_int_eq(listeners_find(&at.any, &before), 0);
	ck_assert_int_eq(connect(client, &at.any, sizeof(at.in)), 0);
	peer = accept(fd, NULL, NULL);
	ck_assert_int_ge(peer, 0);
	ck_assert_int_eq(listeners_find(&at.any, &found), 0);
	ck_assert_uint_eq(found.n, 1);
	ck_assert(listeners_have(&before, found.inodes[0]));
	(void)close(fd);
	ck_assert_int_eq(listeners_find(&at.any, &found), 0);
	ck_assert_uint_eq(found.n, 0);
	(void)close(peer);
	(void)close(client);
}
END_TEST

START_TEST(too_many_are_refused)
{
	union address at = loopback;
	int fds[LISTENERS_MAX + 1], one = 1;
	struct listeners found;

	for (int i = 0; i <= LISTENERS_MAX; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		ck_assert_int_eq(setsockopt(fds[i], SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)),
				 0);
		ck_assert_int_eq(bind(fds[i], &at.any, sizeof(at.in)), 0);
		ck_assert_int_eq(listen(fds[i], 1), 0);
		if (i == 0) {
			socklen_t length = sizeof(at);

			ck_assert_int_eq(getsockname(fds[0], &at.any, &length), 0);
		}
	}
	ck_assert_int_eq(listeners_find(&at.any, &found), -E2BIG);
	(void)close(fds[0]);
	ck_assert_int_eq(listeners_find(&at.any, &found), 0);
	ck_assert_uint_eq(found.n, LISTENERS_MAX);
	for (int i = 1; i <= LISTENERS_MAX; i++)
		(void)close(fds[i]);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("listeners");
	TCase *tc = tcase_create("listeners");

	tcase_add_loop_test(tc, a_listener_is_found_where_a_connection_reaches_it, 0,
			    sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(tc, its_holders_are_found);
	tcase_add_test(tc, connections_are_no_listeners);
	tcase_add_test(tc, too_many_are_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
