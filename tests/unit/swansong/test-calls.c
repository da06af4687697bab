/* Interrupted calls other than reading and writing; for these see interrupt/test-io.c. */
#include "tests/unit/fixtures/swansong/pair.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "tests/unit/fixtures/swansong/caller.h"
#include <swansong/swansong.h>

static struct swansong_interrupt *stop;
static int listener, ends[2];

static void renew_interrupt(void)
{
	stop = swansong_interrupt_unref(stop);
	drop_pair();
	make_pair();
	ck_assert_int_eq(swansong_interrupt_new(child, &stop), 0);
}

/* A listening socket on an address that the kernel chooses. */
static void make_all(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	renew_interrupt();
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(listener, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	ck_assert_int_eq(listen(listener, 16), 0);
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
}

static void drop_all(void)
{
	close(listener);
	close(ends[0]);
	close(ends[1]);
	stop = swansong_interrupt_unref(stop);
	drop_pair();
}

static int connect_to_listener(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	socklen_t length = sizeof(address);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, length), 0);
	return fd;
}

/* ---- accept ---- */

static long accept_one(void *arg)
{
	int fd = swansong_interrupt_accept(stop, listener, NULL, NULL, 0);

	(void)arg;
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 1;
}

START_TEST(a_connection_is_accepted_closed_on_exec_and_blocking_unless_asked)
{
	int flags = _i ? SOCK_NONBLOCK : 0;
	struct sockaddr_storage address = { 0 };
	socklen_t length = sizeof(address);
	int client = connect_to_listener(), fd;

	fd = swansong_interrupt_accept(stop, listener, (struct sockaddr *)&address, &length, flags);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(!!(fcntl(fd, F_GETFL) & O_NONBLOCK), _i);
	ck_assert_int_eq(address.ss_family, AF_UNIX);
	ck_assert_uint_eq(length, sizeof(sa_family_t));
	close(fd);
	close(client);
}
END_TEST

START_TEST(no_connection_is_accepted_after_the_stop_and_none_is_refused_by_it)
{
	int client = connect_to_listener(), fd;

	swansong_shut_down(root);
	ck_assert_int_eq(swansong_interrupt_accept(stop, listener, NULL, NULL, 0), -ESHUTDOWN);
	fd = accept(listener, NULL, NULL);
	ck_assert_int_ge(fd, 0);
	close(fd);
	close(client);
}
END_TEST

START_TEST(of_two_acceptors_one_gets_the_connection_and_the_other_hears_the_stop)
{
	for (int round = 0; round < 50; round++) {
		struct caller c[2];
		int client;

		caller_start(&c[0], accept_one, NULL);
		caller_start(&c[1], accept_one, NULL);
		caller_wait_asleep(&c[0]);
		caller_wait_asleep(&c[1]);
		client = connect_to_listener();
		while (!atomic_load(&c[0].returned) && !atomic_load(&c[1].returned))
			sched_yield();
		swansong_shut_down(root);
		ck_assert_int_eq(caller_join(&c[0]) + caller_join(&c[1]), 1 - ESHUTDOWN);
		close(client);
		renew_interrupt();
	}
}
END_TEST

START_TEST(accepting_from_something_else_is_a_fault)
{
	ck_assert_int_eq(swansong_interrupt_accept(stop, -1, NULL, NULL, 0), -EBADF);
	ck_assert_int_eq(swansong_interrupt_accept(stop, ends[0], NULL, NULL, 0), -ENOTSOCK);
}
END_TEST

/* ---- poll ---- */

#define MANY 40

/* _i descriptors, of which the last becomes readable. */
START_TEST(a_poll_finds_ready_descriptors_until_the_stop)
{
	struct pollfd fds[MANY];
	nfds_t n = (nfds_t)_i;

	for (nfds_t k = 0; k < n; k++)
		fds[k] = (struct pollfd){ .fd = k + 1 < n ? listener : ends[0], .events = POLLIN };
	fds[0].revents = POLLIN;
	ck_assert_int_eq(swansong_interrupt_poll(stop, fds, n, clock_now_usec() + 1000),
			 -ETIMEDOUT);
	ck_assert_int_eq(write(ends[1], "x", 1), 1);
	ck_assert_int_eq(swansong_interrupt_poll(stop, fds, n, UINT64_MAX), 1);
	ck_assert_int_eq(fds[n - 1].revents, POLLIN);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_interrupt_poll(stop, fds, n, 0), 0);
	for (nfds_t k = 0; k < n; k++)
		ck_assert_int_eq(fds[k].revents, 0);
}
END_TEST

START_TEST(a_poll_of_nothing_waits_for_the_stop)
{
	ck_assert_int_eq(swansong_interrupt_poll(stop, NULL, 0, 0), -ETIMEDOUT);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_interrupt_poll(stop, NULL, 0, UINT64_MAX), 0);
}
END_TEST

START_TEST(a_poll_of_more_than_can_be_is_a_fault)
{
	struct pollfd p = { .fd = -1 };

	ck_assert_int_eq(swansong_interrupt_poll(stop, &p, (nfds_t)-1, 0), -EINVAL);
}
END_TEST

/* ---- sleep ---- */

START_TEST(a_sleep_lasts_until_its_deadline_or_the_stop)
{
	uint64_t deadline = clock_now_usec() + 5 * USEC_PER_MSEC;

	ck_assert(swansong_interrupt_sleep(stop, deadline));
	ck_assert_uint_ge(clock_now_usec(), deadline);
	ck_assert(swansong_interrupt_sleep(stop, 0));
	swansong_shut_down(root);
	ck_assert(!swansong_interrupt_sleep(stop, UINT64_MAX));
	ck_assert(!swansong_interrupt_sleep(stop, 0));
}
END_TEST

/* ---- next ---- */

struct count {
	int next, end;
};

static bool count_up(void *arg, void *item)
{
	struct count *count = arg;

	if (count->next == count->end)
		return false;
	*(int *)item = count->next++;
	return true;
}

START_TEST(an_iteration_ends_by_itself)
{
	struct count count = { .end = 3 };
	int item, sum = 0;

	while (swansong_interrupt_next(stop, count_up, &count, &item))
		sum = sum * 10 + item;
	ck_assert_int_eq(sum, 12);
	ck_assert(!swansong_interrupt_next(stop, count_up, &count, &item));
	ck_assert(!swansong_interrupted(stop));
}
END_TEST

/* By the stop, or by the last reference to the root. */
START_TEST(an_iteration_ends_with_the_stop_and_takes_no_item_more)
{
	struct count count = { .end = 10 };
	int item;

	for (int i = 0; i < 4; i++)
		ck_assert(swansong_interrupt_next(stop, count_up, &count, &item));
	if (_i)
		root = swansong_unref(root);
	else
		swansong_shut_down(root);
	ck_assert(!swansong_interrupt_next(stop, count_up, &count, &item));
	ck_assert(!swansong_interrupt_next(stop, count_up, &count, &item));
	ck_assert_int_eq(count.next, 4);
}
END_TEST

/* ---- queues of Unix sockets, whose room is not shown to a socket that is not connected ---- */

static int queue_fds[2]; /* full, and another sender */
static struct sockaddr_un queue_address;
static socklen_t queue_length;

static long connect_to_queue(void *arg)
{
	(void)arg;
	return swansong_interrupt_connect(stop, queue_fds[1], (struct sockaddr *)&queue_address,
					  queue_length);
}

static long send_to_queue(void *arg)
{
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	const struct msghdr m = { .msg_name = &queue_address,
				  .msg_namelen = queue_length,
				  .msg_iov = &iov,
				  .msg_iovlen = 1 };

	(void)arg;
	return swansong_interrupt_sendmsg(stop, queue_fds[1], &m, 0);
}

static void take_from_queue(int type)
{
	char byte;
	int fd = type == SOCK_STREAM ? accept(queue_fds[0], NULL, NULL) : -1;

	if (type == SOCK_DGRAM)
		ck_assert_int_eq(recv(queue_fds[0], &byte, 1, 0), 1);
	else
		ck_assert_int_ge(fd, 0);
	if (fd >= 0)
		close(fd);
}

static const struct {
	int type;
	long (*call)(void *arg);
	long done, end;
} queues[] = {
	{ SOCK_STREAM, connect_to_queue, 0, -ESHUTDOWN },
	{ SOCK_DGRAM, send_to_queue, 1, 0 },
};

/* Each sender fills one place; the last one finds none. */
static void fill_queue(int which)
{
	long r;

	queue_address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	queue_length = sizeof(queue_address);
	queue_fds[0] = socket(AF_UNIX, queues[which].type, 0);
	ck_assert_int_eq(bind(queue_fds[0], (struct sockaddr *)&queue_address, sizeof(sa_family_t)),
			 0);
	(void)listen(queue_fds[0], 0);
	ck_assert_int_eq(
		getsockname(queue_fds[0], (struct sockaddr *)&queue_address, &queue_length), 0);
	do {
		queue_fds[1] = socket(AF_UNIX, queues[which].type, 0);
		swansong_interrupt_set_deadline(stop, swansong_deadline_in(50000));
		r = queues[which].call(NULL);
	} while (r == queues[which].done);
	ck_assert_int_eq(r, -ETIMEDOUT);
	swansong_interrupt_set_deadline(stop, UINT64_MAX);
}

START_TEST(a_full_queue_is_waited_for_until_there_is_room_or_the_stop)
{
	struct timespec spent;
	struct caller c;

	fill_queue(_i);
	caller_start(&c, queues[_i].call, NULL);
	caller_wait_asleep(&c);
	take_from_queue(queues[_i].type);
	ck_assert_int_eq(caller_join(&c), queues[_i].done);
	close(queue_fds[1]);

	queue_fds[1] = socket(AF_UNIX, queues[_i].type, 0);
	caller_start(&c, queues[_i].call, NULL);
	caller_wait_asleep(&c);
	swansong_shut_down(root);
	ck_assert_int_eq(caller_join(&c), queues[_i].end);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
	ck_assert_int_eq(spent.tv_sec, 0);
}
END_TEST

/* ---- all that wait ---- */

static long poll_one(void *arg)
{
	struct pollfd p = { .fd = ends[0], .events = POLLIN };

	(void)arg;
	return swansong_interrupt_poll(stop, &p, 1, UINT64_MAX);
}

static long poll_with_deadline(void *arg)
{
	struct pollfd p = { .fd = ends[0], .events = POLLIN };

	(void)arg;
	return swansong_interrupt_poll(stop, &p, 1, clock_now_usec() + 1000 * USEC_PER_SEC);
}

static long sleep_once(void *arg)
{
	(void)arg;
	return swansong_interrupt_sleep(stop, clock_now_usec() + 1000 * USEC_PER_SEC);
}

static const struct {
	long (*call)(void *arg);
	long end;
} calls[] = {
	{ accept_one, -ESHUTDOWN },
	{ poll_one, 0 },
	{ poll_with_deadline, 0 },
	{ sleep_once, false },
};

#define N_CALLS (int)(sizeof(calls) / sizeof(calls[0]))

START_TEST(a_blocked_call_ends_with_the_stop)
{
	struct caller c;

	caller_start(&c, calls[_i].call, NULL);
	caller_wait_asleep(&c);
	swansong_shut_down(root);
	ck_assert_int_eq(caller_join(&c), calls[_i].end);
}
END_TEST

START_TEST(a_blocked_call_ends_when_the_node_is_gone)
{
	struct caller c;

	caller_start(&c, calls[_i].call, NULL);
	caller_wait_asleep(&c);
	child = swansong_unref(child);
	ck_assert_int_eq(caller_join(&c), calls[_i].end);
}
END_TEST

START_TEST(no_wakeup_is_lost_in_2000_races)
{
	for (int round = 0; round < 2000; round++) {
		struct caller c;

		caller_start(&c, calls[_i].call, NULL);
		swansong_shut_down(round % 2 ? root : child);
		ck_assert_int_eq(caller_join(&c), calls[_i].end);
		renew_interrupt();
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-calls");
	TCase *tc = tcase_create("calls");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_all, drop_all);
	tcase_add_loop_test(tc, a_connection_is_accepted_closed_on_exec_and_blocking_unless_asked,
			    0, 2);
	tcase_add_test(tc, no_connection_is_accepted_after_the_stop_and_none_is_refused_by_it);
	tcase_add_test(tc, of_two_acceptors_one_gets_the_connection_and_the_other_hears_the_stop);
	tcase_add_test(tc, accepting_from_something_else_is_a_fault);
	tcase_add_loop_test(tc, a_poll_finds_ready_descriptors_until_the_stop, 1, MANY);
	tcase_add_test(tc, a_poll_of_nothing_waits_for_the_stop);
	tcase_add_test(tc, a_poll_of_more_than_can_be_is_a_fault);
	tcase_add_test(tc, a_sleep_lasts_until_its_deadline_or_the_stop);
	tcase_add_test(tc, an_iteration_ends_by_itself);
	tcase_add_loop_test(tc, an_iteration_ends_with_the_stop_and_takes_no_item_more, 0, 2);
	tcase_add_loop_test(tc, a_full_queue_is_waited_for_until_there_is_room_or_the_stop, 0, 2);
	tcase_add_loop_test(tc, a_blocked_call_ends_with_the_stop, 0, N_CALLS);
	tcase_add_loop_test(tc, a_blocked_call_ends_when_the_node_is_gone, 0, N_CALLS);
	tcase_add_loop_test(tc, no_wakeup_is_lost_in_2000_races, 0, N_CALLS);
	suite_add_tcase(suite, tc);
	return suite;
}
