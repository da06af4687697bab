/* Receiving messages: with the sender, complete, and with or without descriptors. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/unit/fixtures/spawned.h"
#include "sys/ipc/passed.h"
#include "sys/ipc/unixsock.h"

struct pair {
	int receiver, sender;
};

/* By the name, as a service has it from $NOTIFY_SOCKET. */
static struct pair open_pair(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char name[UNIX_NAME_MAX];
	struct pair p = { .receiver = unix_datagram_new(name) };

	ck_assert_int_ge(p.receiver, 0);
	ck_assert_int_eq(name[0], '@');
	ck_assert_uint_gt(strlen(name), 1);
	memcpy(address.sun_path + 1, name + 1, strlen(name) - 1);
	p.sender = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(
		connect(p.sender, (struct sockaddr *)&address,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
		0);
	return p;
}

static void close_pair(struct pair p)
{
	(void)close(p.receiver);
	(void)close(p.sender);
}

/* Sends @text with @n copies of the descriptor @what. */
static void send_flagged(int fd, const char *text, int what, size_t n, int flags)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * 253)];
	} control = { .bytes = { 0 } };
	struct iovec iov = { .iov_base = (char *)text, .iov_len = strlen(text) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control };
	struct cmsghdr *c;

	msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
	c = CMSG_FIRSTHDR(&msg);
	*c = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(n * sizeof(int)),
	};
	for (size_t i = 0; i < n; i++)
		memcpy(CMSG_DATA(c) + i * sizeof(int), &what, sizeof(int));
	ck_assert_int_eq(sendmsg(fd, &msg, flags), (ssize_t)strlen(text));
}

static void send_these(int fd, const char *text, int what, size_t n)
{
	send_flagged(fd, text, what, n, 0);
}

static void send_descriptors(int fd, const char *text, size_t n)
{
	send_these(fd, text, STDERR_FILENO, n);
}

START_TEST(a_message_comes_with_its_sender)
{
	struct pair p = open_pair();
	struct ucred sender = { 0 };
	char buf[64];
	pid_t pid;

	ck_assert_int_eq(unix_receive(p.receiver, buf, sizeof(buf), &sender), -EAGAIN);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(write(p.sender, "READY=1", 7) != 7);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(unix_receive(p.receiver, buf, sizeof(buf), &sender), 7);
	ck_assert_int_eq(memcmp(buf, "READY=1", 7), 0);
	ck_assert_int_eq(sender.pid, pid);
	ck_assert_uint_eq(sender.uid, getuid());
	ck_assert_uint_eq(sender.gid, getgid());
	close_pair(p);
}
END_TEST

START_TEST(a_pair_returns_the_sender_of_each_message)
{
	struct ucred sender = { 0 };
	char buf[64];
	int fds[2];
	pid_t pid;

	ck_assert_int_eq(unix_pair(fds), 0);
	ck_assert(fcntl(fds[0], F_GETFD) & FD_CLOEXEC && fcntl(fds[1], F_GETFD) & FD_CLOEXEC);
	ck_assert(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
	ck_assert(!(fcntl(fds[1], F_GETFL) & O_NONBLOCK));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(write(fds[1], "one", 3) != 3);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(write(fds[1], "two", 3), 3);
	/* Bytes of two senders do not arrive in one message. */
	ck_assert_int_eq(unix_receive(fds[0], buf, sizeof(buf), &sender), 3);
	ck_assert_int_eq(sender.pid, pid);
	ck_assert_int_eq(unix_receive(fds[0], buf, sizeof(buf), &sender), 3);
	ck_assert_int_eq(sender.pid, getpid());
	close(fds[1]);
	ck_assert_int_eq(unix_receive(fds[0], buf, sizeof(buf), &sender), 0);
	close(fds[0]);
}
END_TEST

START_TEST(two_addresses_are_never_the_same)
{
	char a[UNIX_NAME_MAX], b[UNIX_NAME_MAX];
	int x = unix_datagram_new(a), y = unix_datagram_new(b);

	ck_assert_str_ne(a, b);
	ck_assert_int_eq(fcntl(x, F_GETFD), FD_CLOEXEC);
	(void)close(x);
	(void)close(y);
}
END_TEST

START_TEST(a_message_with_descriptors_stays_queued)
{
	static const size_t counts[] = { 1, 2, 253 };
	unsigned before = spawned_count_descriptors(getpid());

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct pair p = open_pair();
		struct ucred sender;
		struct unix_passed passed;
		char buf[64];

		send_descriptors(p.sender, "READY=1", counts[i]);
		ck_assert_int_eq(unix_receive(p.receiver, buf, sizeof(buf), &sender), -EPROTO);
		ck_assert_int_eq(unix_peek(p.receiver, &sender), 1);
		ck_assert_int_eq(sender.pid, getpid());
		ck_assert_uint_eq(spawned_await_descriptors(before + 2), before + 2);
		ck_assert_int_eq(
			unix_receive_passed(p.receiver, buf, sizeof(buf), &sender, &passed), 7);
		ck_assert_uint_eq(passed.n, counts[i]);
		unix_passed_close(&passed);
		ck_assert_int_eq(unix_peek(p.receiver, &sender), -EAGAIN);
		close_pair(p);
	}
}
END_TEST

/* A socket with more pending bytes than its peer takes, so that its close waits. */
static int lingering_socket(int *peer)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct linger linger = { .l_onoff = 1, .l_linger = 3600 };
	static char much[65536];
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, length), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	if (connect(fd, (struct sockaddr *)&address, length) < 0)
		return -1; /* not even loopback */
	*peer = accept(listener, NULL, NULL);
	ck_assert_int_ge(*peer, 0);
	(void)close(listener);
	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	while (send(fd, much, sizeof(much), MSG_DONTWAIT) > 0)
		;
	return fd;
}

START_TEST(a_lingering_socket_is_closed_at_once)
{
	struct pair p = open_pair();
	struct unix_passed passed;
	struct ucred sender;
	int peer, fd = lingering_socket(&peer);
	char buf[64];

	if (fd < 0)
		return;
	send_these(p.sender, "READY=1", fd, 1);
	(void)close(fd); /* not the last one: that is the receiver's */
	ck_assert_int_eq(unix_receive_passed(p.receiver, buf, sizeof(buf), &sender, &passed), 7);
	unix_passed_close(&passed);
	(void)close(peer);
	close_pair(p);
}
END_TEST

/* It would be the last close of the socket: another process waits instead. */
START_TEST(a_lingering_socket_is_dropped_by_another_process)
{
	struct pair p = open_pair();
	struct ucred sender;
	int peer, fd = lingering_socket(&peer);
	pid_t pid;

	if (fd < 0)
		return;
	send_these(p.sender, "READY=1", fd, 1);
	(void)close(fd);
	pid = passed_drop_apart(p.receiver);
	ck_assert_int_gt(pid, 0);
	while (unix_peek(p.receiver, &sender) != -EAGAIN)
		(void)sched_yield();
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	(void)close(peer);
	close_pair(p);
}
END_TEST

/* A stream, as of a kernel that refuses no descriptors. */
static struct pair open_stream(void)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	return (struct pair){ .receiver = fds[0], .sender = fds[1] };
}

START_TEST(the_end_of_input_reads_bytes_and_refuses_more)
{
	struct pair p = open_stream();
	char c;

	ck_assert_int_eq(write(p.sender, "hello", 5), 5);
	ck_assert(unix_end_input(p.receiver));
	ck_assert_int_eq(send(p.sender, "x", 1, MSG_NOSIGNAL), -1);
	ck_assert_int_eq(write(p.receiver, "r", 1), 1);
	unix_close(p.receiver);
	/* All was read: no ECONNRESET. */
	ck_assert_int_eq(read(p.sender, &c, 1), 1);
	ck_assert_int_eq(read(p.sender, &c, 1), 0);
	(void)close(p.sender);
}
END_TEST

START_TEST(the_end_of_input_drops_no_descriptor)
{
	for (int urgent = 0; urgent < 2; urgent++) {
		struct pair p = open_stream();
		int peer, fd = lingering_socket(&peer);

		if (fd < 0)
			return;
		ck_assert_int_eq(write(p.sender, "x", 1), 1);
		send_flagged(p.sender, "y", fd, 1, urgent ? MSG_OOB : 0);
		(void)close(fd);
		ck_assert(!unix_end_input(p.receiver));
		unix_close(p.receiver);
		while (fcntl(p.receiver, F_GETFD) >= 0)
			(void)sched_yield();
		ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), 0);
		(void)close(peer);
		ck_assert_int_gt(waitpid(-1, NULL, 0), 0);
		(void)close(p.sender);
	}
}
END_TEST

START_TEST(a_truncated_message_is_refused)
{
	struct unix_passed passed;
	struct pair p = open_pair();
	struct ucred sender;
	char buf[8];
	unsigned before = spawned_count_descriptors(getpid());

	ck_assert_int_eq(send(p.sender, "123456789", 9, 0), 9);
	ck_assert_int_eq(unix_receive(p.receiver, buf, sizeof(buf), &sender), -EBADMSG);
	send_descriptors(p.sender, "123456789", 3);
	ck_assert_int_eq(unix_receive_passed(p.receiver, buf, sizeof(buf), &sender, &passed),
			 -EBADMSG);
	unix_passed_close(&passed);
	ck_assert_uint_eq(spawned_await_descriptors(before), before);
	/* The next one is whole. */
	ck_assert_int_eq(send(p.sender, "12345678", 8, 0), 8);
	ck_assert_int_eq(unix_receive(p.receiver, buf, sizeof(buf), &sender), 8);
	ck_assert_int_eq(unix_receive(p.receiver, buf, sizeof(buf), &sender), -EAGAIN);
	close_pair(p);
}
END_TEST

/* No end, and no error: there may be more behind it. */
START_TEST(an_empty_message_is_skipped)
{
	struct pair p = open_pair();
	struct ucred sender;
	char buf[8];

	ck_assert_int_eq(send(p.sender, "", 0, 0), 0);
	ck_assert_int_eq(send(p.sender, "x", 1, 0), 1);
	ck_assert_int_eq(unix_receive(p.receiver, buf, sizeof(buf), &sender), 0);
	ck_assert_int_eq(unix_receive(p.receiver, buf, sizeof(buf), &sender), 1);
	close_pair(p);
}
END_TEST

/* An error of an earlier call is none of this one. */
START_TEST(message_is_received_once_after_an_interruption)
{
	struct pair p = open_pair();
	struct ucred sender;
	char buf[8];

	ck_assert_int_eq(send(p.sender, "", 0, 0), 0);
	ck_assert_int_eq(send(p.sender, "x", 1, 0), 1);
	errno = EINTR;
	ck_assert_int_eq(unix_peek(p.receiver, &sender), 0);
	errno = EINTR;
	ck_assert_int_eq(unix_receive(p.receiver, buf, sizeof(buf), &sender), 0);
	errno = EINTR;
	ck_assert_int_eq(unix_receive(p.receiver, buf, sizeof(buf), &sender), 1);
	close_pair(p);
}
END_TEST

START_TEST(a_message_without_a_sender_is_refused)
{
	struct ucred sender;
	char buf[8];
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	ck_assert_int_eq(unix_receive(fds[0], buf, sizeof(buf), &sender), -EBADMSG);
	ck_assert_int_eq(unix_pass_credentials(fds[0]), 0);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	ck_assert_int_eq(unix_receive(fds[0], buf, sizeof(buf), &sender), 1);
	ck_assert_int_eq(sender.pid, getpid());
	(void)close(fds[1]);
	ck_assert_int_eq(unix_receive(fds[0], buf, sizeof(buf), &sender), 0);
	(void)close(fds[0]);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("unix-message");
	TCase *tc = tcase_create("unix-message");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, a_message_comes_with_its_sender);
	tcase_add_test(tc, a_pair_returns_the_sender_of_each_message);
	tcase_add_test(tc, two_addresses_are_never_the_same);
	tcase_add_test(tc, a_message_with_descriptors_stays_queued);
	tcase_add_test(tc, a_lingering_socket_is_closed_at_once);
	tcase_add_test(tc, a_lingering_socket_is_dropped_by_another_process);
	tcase_add_test(tc, the_end_of_input_reads_bytes_and_refuses_more);
	tcase_add_test(tc, the_end_of_input_drops_no_descriptor);
	tcase_add_test(tc, a_truncated_message_is_refused);
	tcase_add_test(tc, an_empty_message_is_skipped);
	tcase_add_test(tc, message_is_received_once_after_an_interruption);
	tcase_add_test(tc, a_message_without_a_sender_is_refused);
	suite_add_tcase(s, tc);
	return s;
}
