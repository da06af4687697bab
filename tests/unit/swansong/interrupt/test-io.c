#include "tests/unit/fixtures/swansong/pair.h"

#include <errno.h>
#include <netinet/in.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <termios.h>

#include "tests/unit/fixtures/swansong/caller.h"
#include <swansong/swansong.h>

/* ---- a Linux that knows no flag for this file; see local.mk ---- */

static bool old_linux;

ssize_t __real_preadv2(int fd, const struct iovec *iov, int n, off_t offset, int flags);
ssize_t __wrap_preadv2(int fd, const struct iovec *iov, int n, off_t offset, int flags);
ssize_t __real_pwritev2(int fd, const struct iovec *iov, int n, off_t offset, int flags);
ssize_t __wrap_pwritev2(int fd, const struct iovec *iov, int n, off_t offset, int flags);

ssize_t __wrap_preadv2(int fd, const struct iovec *iov, int n, off_t offset, int flags)
{
	errno = EOPNOTSUPP;
	return old_linux ? -1 : __real_preadv2(fd, iov, n, offset, flags);
}

ssize_t __wrap_pwritev2(int fd, const struct iovec *iov, int n, off_t offset, int flags)
{
	errno = EOPNOTSUPP;
	return old_linux ? -1 : __real_pwritev2(fd, iov, n, offset, flags);
}

/* ---- the kinds of files, each with an end to read and one to write ---- */

static int in, out;

static void open_pipe(void)
{
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	in = fds[0];
	out = fds[1];
}

static void open_pipe_nonblocking(void)
{
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	in = fds[0];
	out = fds[1];
}

static void open_fifo(void)
{
	char dir[] = "test-swansong-io-XXXXXX";
	char path[64];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/fifo", dir);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	in = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	out = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_ge(in, 0);
	ck_assert_int_ge(out, 0);
	ck_assert_int_eq(fcntl(in, F_SETFL, 0), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}

static void open_socket(void)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	in = fds[0];
	out = fds[1];
}

static void open_terminal(void)
{
	struct termios raw = { 0 };

	cfmakeraw(&raw);
	ck_assert_int_eq(openpty(&out, &in, NULL, &raw, NULL), 0);
}

static void open_terminal_backwards(void)
{
	struct termios raw = { 0 };

	cfmakeraw(&raw);
	ck_assert_int_eq(openpty(&in, &out, NULL, &raw, NULL), 0);
}

static const struct kind {
	void (*open)(void);
	bool alone_in;	/* only a single reader is sure not to wait in the kernel */
	bool alone_out; /* only a single writer is */
	bool terminal;
} kinds[] = {
	{ .open = open_pipe },
	{ .open = open_pipe_nonblocking },
	{ .open = open_fifo },
	{ .open = open_socket },
	{ .open = open_terminal, .alone_out = true, .terminal = true },
	{ .open = open_terminal_backwards, .alone_in = true, .terminal = true },
};

#define N_KINDS (int)(sizeof(kinds) / sizeof(kinds[0]))

/* Loop tests have one round for each kind on this Linux, and one on an old one. */
#define ROUNDS (2 * N_KINDS)

static struct swansong_interrupt *stop;
static const struct kind *kind;

static void open_kind(int round)
{
	old_linux = round >= N_KINDS;
	kind = &kinds[round % N_KINDS];
	kind->open();
}

static void make_interrupt(void)
{
	make_pair();
	ck_assert_int_eq(swansong_interrupt_new(child, &stop), 0);
	in = out = -1;
	(void)signal(SIGPIPE, SIG_IGN);
}

static void drop_interrupt(void)
{
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	stop = swansong_interrupt_unref(stop);
	drop_pair();
}

static size_t drain(void)
{
	static char buffer[65536];
	size_t sum = 0;
	ssize_t r;

	while (is_readable(in)) {
		r = read(in, buffer, sizeof(buffer));
		ck_assert_int_gt(r, 0);
		sum += (size_t)r;
	}
	return sum;
}

START_TEST(bytes_are_read_until_the_stop_and_stay_after_it)
{
	char buffer[16];

	open_kind(_i);
	ck_assert_int_eq(swansong_interrupt_write(stop, out, "abc", 3), 3);
	ck_assert_int_eq(swansong_interrupt_read(stop, in, buffer, 2), 2);
	ck_assert_mem_eq(buffer, "ab", 2);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_interrupt_read(stop, in, buffer, 2), 0);
	ck_assert_int_eq(swansong_interrupt_write(stop, out, "def", 3), 0);
	ck_assert_int_eq(swansong_interrupt_read(stop, in, buffer, 2), 0);
	ck_assert_int_eq(read(in, buffer, sizeof(buffer)), 1);
	ck_assert_int_eq(buffer[0], 'c');
}
END_TEST

START_TEST(several_buffers_are_one)
{
	char first[2], second[2], third[4];
	struct iovec from[] = { { .iov_base = first, .iov_len = 0 },
				{ .iov_base = (char *)"abcde", .iov_len = 5 } };
	struct iovec to[] = { { .iov_base = first, .iov_len = 2 },
			      { .iov_base = second, .iov_len = 2 },
			      { .iov_base = third, .iov_len = 4 } };

	open_kind(_i);
	ck_assert_int_eq(swansong_interrupt_writev(stop, out, from, 2), 5);
	ck_assert_int_eq(swansong_interrupt_readv(stop, in, to, 3), 5);
	ck_assert_mem_eq(first, "ab", 2);
	ck_assert_mem_eq(second, "cd", 2);
	ck_assert_mem_eq(third, "e", 1);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_interrupt_writev(stop, out, from, 2), 0);
	ck_assert_int_eq(swansong_interrupt_readv(stop, in, to, 3), 0);
}
END_TEST

static long read_one(void *arg)
{
	char byte;

	(void)arg;
	return swansong_interrupt_read(stop, in, &byte, 1);
}

START_TEST(a_blocked_read_ends_with_the_stop)
{
	struct caller c;

	open_kind(_i);
	caller_start(&c, read_one, NULL);
	caller_wait_asleep(&c);
	swansong_shut_down(root);
	ck_assert_int_eq(caller_join(&c), 0);
}
END_TEST

START_TEST(a_blocked_read_gets_later_bytes)
{
	struct caller c;

	open_kind(_i);
	caller_start(&c, read_one, NULL);
	caller_wait_asleep(&c);
	ck_assert_int_eq(write(out, "x", 1), 1);
	ck_assert_int_eq(caller_join(&c), 1);
}
END_TEST

/* Both are woken by the byte; the second must not wait for another byte in the kernel. */
START_TEST(of_two_readers_one_gets_the_byte_and_the_other_hears_the_stop)
{
	struct caller c[2];

	open_kind(_i);
	for (int round = 0; round < (kind->alone_in ? 0 : 50); round++) {
		caller_start(&c[0], read_one, NULL);
		caller_start(&c[1], read_one, NULL);
		caller_wait_asleep(&c[0]);
		caller_wait_asleep(&c[1]);
		ck_assert_int_eq(write(out, "x", 1), 1);
		while (!atomic_load(&c[0].returned) && !atomic_load(&c[1].returned))
			sched_yield();
		swansong_shut_down(root);
		ck_assert_int_eq(caller_join(&c[0]) + caller_join(&c[1]), 1);
		ck_assert_uint_eq(drain(), 0);
		swansong_interrupt_unref(stop);
		drop_pair();
		make_pair();
		ck_assert_int_eq(swansong_interrupt_new(child, &stop), 0);
	}
}
END_TEST

/* Writes far more than any of the files holds, until the stop. */
static long write_much(void *arg)
{
	static const char much[1 << 20];
	long sum = 0;
	ssize_t r;

	(void)arg;
	while ((r = swansong_interrupt_write(stop, out, much, sizeof(much))) > 0)
		sum += r;
	return r < 0 ? r : sum;
}

START_TEST(a_blocked_write_ends_with_the_stop_and_nothing_is_lost)
{
	struct caller c;
	size_t taken;

	open_kind(_i);
	caller_start(&c, write_much, NULL);
	caller_wait_asleep(&c);
	taken = drain();
	ck_assert_uint_gt(taken, 0);
	caller_wait_asleep(&c);
	swansong_shut_down(root);
	taken += drain();
	ck_assert_int_eq(caller_join(&c), (long)(taken + drain()));
}
END_TEST

START_TEST(of_several_writers_all_hear_the_stop)
{
	struct caller c[3];
	size_t taken = 0;
	long sum = 0;

	open_kind(_i);
	if (kind->alone_out)
		return;
	for (int i = 0; i < 3; i++)
		caller_start(&c[i], write_much, NULL);
	for (int round = 0; round < 20; round++)
		taken += drain();
	for (int i = 0; i < 3; i++)
		caller_wait_asleep(&c[i]);
	swansong_shut_down(root);
	for (int i = 0; i < 3; i++)
		sum += caller_join(&c[i]);
	ck_assert_int_eq(sum, (long)(taken + drain()));
}
END_TEST

START_TEST(the_natural_end_and_faults_are_those_of_the_call)
{
	char byte;

	open_kind(_i);
	if (!kind->terminal) {
		close(out);
		ck_assert_int_eq(swansong_interrupt_read(stop, in, &byte, 1), 0);
		ck_assert(!swansong_interrupted(stop));
		kind->open();
		close(in);
		ck_assert_int_eq(swansong_interrupt_write(stop, out, "x", 1), -EPIPE);
		in = -1;
	}
	ck_assert_int_eq(swansong_interrupt_read(stop, -1, &byte, 1), -EBADF);
	ck_assert_int_eq(swansong_interrupt_write(stop, -1, "x", 1), -EBADF);
	ck_assert_int_eq(swansong_interrupt_writev(stop, out, NULL, -1), -EINVAL);
}
END_TEST

static _Atomic int signals;

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&signals, 1);
}

START_TEST(signals_end_nothing)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct caller c;

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	open_kind(_i);
	caller_start(&c, read_one, NULL);
	for (int i = 1; i <= 3; i++) {
		caller_wait_asleep(&c);
		ck_assert_int_eq(pthread_kill(c.thread, SIGUSR1), 0);
		while (atomic_load(&signals) < i)
			sched_yield();
	}
	caller_wait_asleep(&c);
	ck_assert_int_eq(write(out, "x", 1), 1);
	ck_assert_int_eq(caller_join(&c), 1);
}
END_TEST

START_TEST(the_flags_of_the_file_stay_and_no_descriptor_is_left)
{
	int flags[2], first_free;
	char byte;

	open_kind(_i);
	flags[0] = fcntl(in, F_GETFL);
	flags[1] = fcntl(out, F_GETFL);
	first_free = dup(0);
	close(first_free);
	for (int i = 0; i < 10; i++) {
		ck_assert_int_eq(swansong_interrupt_write(stop, out, "x", 1), 1);
		ck_assert_int_eq(swansong_interrupt_read(stop, in, &byte, 1), 1);
	}
	ck_assert_int_eq(fcntl(in, F_GETFL), flags[0]);
	ck_assert_int_eq(fcntl(out, F_GETFL), flags[1]);
	ck_assert_int_eq(dup(0), first_free);
	close(first_free);
}
END_TEST

START_TEST(files_on_disks_are_read_to_their_end)
{
	char buffer[8];

	old_linux = _i & 1;
	in = _i & 2 ? memfd_create("test", MFD_CLOEXEC) : open(".", O_TMPFILE | O_RDWR, 0600);
	ck_assert_int_ge(in, 0);
	ck_assert_int_eq(swansong_interrupt_write(stop, in, "abc", 3), 3);
	ck_assert_int_eq(lseek(in, 0, SEEK_SET), 0);
	ck_assert_int_eq(swansong_interrupt_read(stop, in, buffer, sizeof(buffer)), 3);
	ck_assert_int_eq(swansong_interrupt_read(stop, in, buffer, sizeof(buffer)), 0);
	ck_assert_int_eq(lseek(in, 0, SEEK_SET), 0);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_interrupt_read(stop, in, buffer, sizeof(buffer)), 0);
	ck_assert_int_eq(lseek(in, 0, SEEK_CUR), 0);
}
END_TEST

START_TEST(no_wakeup_of_a_reader_is_lost_in_2000_races)
{
	open_kind(_i);
	for (int round = 0; round < 2000; round++) {
		struct caller c;

		caller_start(&c, read_one, NULL);
		swansong_shut_down(round % 2 ? root : child);
		ck_assert_int_eq(caller_join(&c), 0);
		swansong_interrupt_unref(stop);
		drop_pair();
		make_pair();
		ck_assert_int_eq(swansong_interrupt_new(child, &stop), 0);
	}
}
END_TEST

START_TEST(a_call_that_would_wait_ends_at_the_deadline)
{
	char byte = 1;
	size_t n = 0;

	open_kind(_i);
	swansong_interrupt_set_deadline(stop, swansong_deadline_in(1000));
	ck_assert_int_eq(swansong_interrupt_read(stop, in, &byte, 1), -ETIMEDOUT);
	ck_assert_int_eq(swansong_interrupt_write(stop, out, &byte, 1), 1);
	while (n < 100 * 1000 * 1000 && swansong_interrupt_write(stop, out, &byte, 1) == 1)
		n++;
	ck_assert_int_eq(swansong_interrupt_write(stop, out, &byte, 1), -ETIMEDOUT);
	ck_assert_int_eq(swansong_interrupt_read(stop, in, &byte, 1), 1); /* it need not wait */
	swansong_interrupt_set_deadline(stop, UINT64_MAX);
	ck_assert_int_eq(swansong_interrupt_read(stop, in, &byte, 1), 1);
}
END_TEST

static int listen_at(struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*address = (struct sockaddr_in){ AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	ck_assert_int_eq(bind(fd, (struct sockaddr *)address, sizeof(*address)), 0);
	ck_assert_int_eq(listen(fd, 0), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)address, &length), 0);
	return fd;
}

static int new_client(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* The first two connections fill the queue; a third one would wait. */
START_TEST(a_connection_is_made_or_ends_at_the_deadline_or_the_stop)
{
	struct sockaddr_in address;
	const struct sockaddr *a = (const struct sockaddr *)&address;
	int fd[5], r = 0, n, listener = listen_at(&address);

	for (n = 0; n < 4 && r == 0; n++) {
		fd[n] = new_client();
		swansong_interrupt_set_deadline(stop, swansong_deadline_in(300000));
		r = swansong_interrupt_connect(stop, fd[n], a, sizeof(address));
	}
	ck_assert_int_gt(n, 1);
	ck_assert_int_eq(r, -ETIMEDOUT);
	swansong_interrupt_set_deadline(stop, 0);
	ck_assert_int_eq(swansong_interrupt_accept(stop, listener, NULL, NULL, 0) >= 0, 1);
	swansong_shut_down(root);
	fd[n] = new_client();
	ck_assert_int_eq(swansong_interrupt_connect(stop, fd[n], a, sizeof(address)), -ESHUTDOWN);
	close(listener);
	while (n >= 0)
		close(fd[n--]);
}
END_TEST

START_TEST(a_refused_connection_is_an_error)
{
	struct sockaddr_in address;
	int fd = new_client();

	close(listen_at(&address));
	ck_assert_int_eq(
		swansong_interrupt_connect(stop, fd, (struct sockaddr *)&address, sizeof(address)),
		-ECONNREFUSED);
	close(fd);
}
END_TEST

START_TEST(messages_are_sent_and_received_until_the_stop)
{
	char byte = 'x';
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	open_socket();
	swansong_interrupt_set_deadline(stop, 0);
	ck_assert_int_eq(swansong_interrupt_recvmsg(stop, in, &m, 0), -ETIMEDOUT);
	ck_assert_int_eq(swansong_interrupt_sendmsg(stop, out, &m, MSG_NOSIGNAL), 1);
	ck_assert_int_eq(swansong_interrupt_recvmsg(stop, in, &m, 0), 1);
	ck_assert_int_eq(swansong_interrupt_sendmsg(stop, -1, &m, 0), -EBADF);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_interrupt_recvmsg(stop, in, &m, 0), 0);
	ck_assert_int_eq(swansong_interrupt_sendmsg(stop, out, &m, 0), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-io");
	TCase *tc = tcase_create("io");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, make_interrupt, drop_interrupt);
	tcase_add_loop_test(tc, bytes_are_read_until_the_stop_and_stay_after_it, 0, ROUNDS);
	tcase_add_loop_test(tc, several_buffers_are_one, 0, ROUNDS);
	tcase_add_loop_test(tc, a_blocked_read_ends_with_the_stop, 0, ROUNDS);
	tcase_add_loop_test(tc, a_blocked_read_gets_later_bytes, 0, ROUNDS);
	tcase_add_loop_test(tc, of_two_readers_one_gets_the_byte_and_the_other_hears_the_stop, 0,
			    ROUNDS);
	tcase_add_loop_test(tc, a_blocked_write_ends_with_the_stop_and_nothing_is_lost, 0, ROUNDS);
	tcase_add_loop_test(tc, of_several_writers_all_hear_the_stop, 0, ROUNDS);
	tcase_add_loop_test(tc, the_natural_end_and_faults_are_those_of_the_call, 0, ROUNDS);
	tcase_add_loop_test(tc, signals_end_nothing, 0, ROUNDS);
	tcase_add_loop_test(tc, the_flags_of_the_file_stay_and_no_descriptor_is_left, 0, ROUNDS);
	tcase_add_loop_test(tc, a_call_that_would_wait_ends_at_the_deadline, 0, ROUNDS);
	tcase_add_test(tc, a_connection_is_made_or_ends_at_the_deadline_or_the_stop);
	tcase_add_test(tc, a_refused_connection_is_an_error);
	tcase_add_test(tc, messages_are_sent_and_received_until_the_stop);
	tcase_add_loop_test(tc, files_on_disks_are_read_to_their_end, 0, 4);
	tcase_add_loop_test(tc, no_wakeup_of_a_reader_is_lost_in_2000_races, 0, ROUNDS);
	suite_add_tcase(suite, tc);
	return suite;
}
