/*
 * Threads that wait for a descriptor and are cancelled meanwhile: each leaves no descriptor and no
 * memory behind, and the tree works on.
 */
#include "tests/unit/fixtures/swansong/pair.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/unit/fixtures/swansong/caller.h"

static struct swansong_interrupt *interrupt;

/* Of the call that is cancelled; -1 if it has none. */
static int ends[2];
static int clients[4]; /* they fill the queue of a listener; -1 for none */

static unsigned int count_fds(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 1000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void close_each(const int *fds, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (fds[k] >= 0)
			(void)close(fds[k]);
}

/* ---- calls ---- */

static long read_byte(void *arg)
{
	char byte;

	(void)arg;
	return swansong_interrupt_read(interrupt, ends[0], &byte, 1);
}

static long read_vector(void *arg)
{
	char byte;
	struct iovec iov = { &byte, 1 };

	(void)arg;
	return swansong_interrupt_readv(interrupt, ends[0], &iov, 1);
}

static char many[65536];

static long write_all(void *arg)
{
	(void)arg;
	while (swansong_interrupt_write(interrupt, ends[0], many, sizeof(many)) > 0)
		;
	return 0;
}

static long write_all_vectors(void *arg)
{
	struct iovec iov = { many, sizeof(many) };

	(void)arg;
	while (swansong_interrupt_writev(interrupt, ends[0], &iov, 1) > 0)
		;
	return 0;
}

static long receive_message(void *arg)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	(void)arg;
	return swansong_interrupt_recvmsg(interrupt, ends[0], &m, 0);
}

static long send_messages(void *arg)
{
	struct iovec iov = { many, sizeof(many) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	(void)arg;
	while (swansong_interrupt_sendmsg(interrupt, ends[0], &m, 0) > 0)
		;
	return 0;
}

static long accept_connection(void *arg)
{
	(void)arg;
	return swansong_interrupt_accept(interrupt, ends[0], NULL, NULL, 0);
}

static long connect_client(void *arg)
{
	struct sockaddr_in address;
	socklen_t length = sizeof(address);

	(void)arg;
	(void)getsockname(ends[0], (struct sockaddr *)&address, &length);
	return swansong_interrupt_connect(interrupt, ends[1], (struct sockaddr *)&address, length);
}

static long poll_many(void *arg)
{
	struct pollfd fds[30];

	(void)arg;
	for (size_t k = 0; k < ARRAY_SIZE(fds); k++)
		fds[k] = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	return swansong_interrupt_poll(interrupt, fds, ARRAY_SIZE(fds), UINT64_MAX);
}

/* ---- what they wait for ---- */

static void open_fifo(void)
{
	char path[] = "/tmp/test-cancel.XXXXXX", fifo[sizeof(path) + 5];

	ck_assert_ptr_nonnull(mkdtemp(path));
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", path);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ends[0] = open(fifo, O_RDWR);
	ck_assert_int_eq(unlink(fifo), 0);
	ck_assert_int_eq(rmdir(path), 0);
}

static void open_listener(void)
{
	ends[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(ends[0], &(struct sockaddr){ AF_UNIX }, sizeof(sa_family_t)), 0);
	ck_assert_int_eq(listen(ends[0], 1), 0);
}

/* A listener with room for fewer connections than there are clients. */
static void open_full_listener(void)
{
	struct sockaddr_in address = { AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *a = (struct sockaddr *)&address;
	socklen_t length = sizeof(address);

	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(ends[0], a, sizeof(address)), 0);
	ck_assert_int_eq(listen(ends[0], 0), 0);
	ck_assert_int_eq(getsockname(ends[0], a, &length), 0);
	for (size_t k = 0; k < ARRAY_SIZE(clients); k++) {
		clients[k] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)connect(clients[k], a, length);
	}
}

static void open_sockets(void)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
}

static const struct {
	void (*open)(void);
	long (*call)(void *arg);
} waits[] = {
	{ open_fifo, read_byte },
	{ open_fifo, read_vector },
	{ open_fifo, write_all },
	{ open_fifo, write_all_vectors },
	{ open_sockets, read_byte },
	{ open_sockets, read_vector },
	{ open_sockets, write_all },
	{ open_sockets, write_all_vectors },
	{ open_sockets, receive_message },
	{ open_sockets, send_messages },
	{ open_listener, accept_connection },
	{ open_full_listener, connect_client },
	{ open_sockets, poll_many },
};

START_TEST(a_thread_that_waits_is_cancelled_and_leaks_nothing)
{
	unsigned int before;
	struct caller c;
	void *result;

	make_pair();
	ends[0] = ends[1] = -1;
	for (size_t k = 0; k < ARRAY_SIZE(clients); k++)
		clients[k] = -1;
	ck_assert_int_eq(swansong_interrupt_new(child, &interrupt), 0);
	waits[_i].open();
	ck_assert_int_eq(swansong_interrupt_poll(interrupt, NULL, 0, 0), -ETIMEDOUT);
	before = count_fds();
	caller_start(&c, waits[_i].call, NULL);
	caller_wait_asleep(&c);
	ck_assert_int_eq(pthread_cancel(c.thread), 0);
	ck_assert_int_eq(pthread_join(c.thread, &result), 0);
	ck_assert_ptr_eq(result, PTHREAD_CANCELED);
	ck_assert_uint_eq(count_fds(), before);
	close_each(ends, ARRAY_SIZE(ends));
	close_each(clients, ARRAY_SIZE(clients));
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_wait(root, UINT64_MAX), 0);
	ck_assert(swansong_interrupted(interrupt));
	interrupt = swansong_interrupt_unref(interrupt);
	drop_pair();
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("cancel-waits");
	TCase *points = tcase_create("cancel-waits");

	/* The address sanitizer does not see that a cancellation leaves functions. */
#ifndef __SANITIZE_ADDRESS__
	tcase_add_loop_test(points, a_thread_that_waits_is_cancelled_and_leaks_nothing, 0,
			    ARRAY_SIZE(waits));
#else
	(void)a_thread_that_waits_is_cancelled_and_leaks_nothing;
#endif
	suite_add_tcase(suite, points);
	return suite;
}
