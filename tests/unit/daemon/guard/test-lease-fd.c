/* Leases that last as long as the other end of a descriptor. */
#include "tests/unit/daemon/guard/test-lease.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/guard/lease-fd.h"
#include "daemon/loop/closer.h"

/* A refused one is still the caller's. */
static int take_by(int fd)
{
	const struct ucred peer = { .pid = getpid(), .uid = 1 };
	int r = lease_fd_new(web,
			     &(struct lease_wish){
				     .peer = &peer,
				     .why = "fd",
				     .ttl_usec = USEC_INFINITY,
			     },
			     fd);

	if (r != 0)
		ck_assert_int_eq(close(fd), 0);
	return r;
}

/* A child closes a socket. */
static bool is_closed(int fd)
{
	uint64_t until = clock_now_usec() + 10 * USEC_PER_SEC;

	closer_discards_done(&ctx);
	while (fcntl(fd, F_GETFD) >= 0 && clock_now_usec() < until)
		(void)poll(NULL, 0, 1);
	return fcntl(fd, F_GETFD) < 0;
}

/* Makes an end for the daemon and one for the test, for each row. */
static void make_pipe(int fds[2])
{
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
}

static void make_pipe_for_writing(int fds[2])
{
	int pair[2];

	make_pipe(pair);
	fds[0] = pair[1];
	fds[1] = pair[0];
}

struct pair {
	int type, fds[2];
};

static int make_pair(void *arg)
{
	struct pair *pair = arg;

	return socketpair(AF_UNIX, pair->type | SOCK_CLOEXEC, 0, pair->fds);
}

/* Another process makes the pair, as one of the daemon's own is refused. */
static void make_pair_of_another(int type, int fds[2])
{
	static _Alignas(16) char stack[64 * 1024];
	struct pair pair = { .type = type };
	int status;
	pid_t pid = clone(make_pair, stack + sizeof(stack),
			  CLONE_FILES | CLONE_VM | CLONE_VFORK | SIGCHLD, &pair);

	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	memcpy(fds, pair.fds, sizeof(pair.fds));
}

static void make_stream(int fds[2])
{
	make_pair_of_another(SOCK_STREAM, fds);
}

static void make_packets(int fds[2])
{
	make_pair_of_another(SOCK_SEQPACKET, fds);
}

START_TEST(lease_ends_with_the_other_end)
{
	static void (*const makers[])(int fds[2]) = { make_pipe, make_pipe_for_writing, make_stream,
						      make_packets };
	int fds[2], copy;

	makers[_i](fds);
	copy = dup(fds[1]);
	ck_assert_int_eq(take_by(fds[0]), 0);
	ck_assert_uint_eq(ctx.guards.n_leases, 1);
	close(fds[1]);
	/* The copy is still open. */
	ck_assert_int_eq(sd_event_run(ctx.event, 0), 0);
	ck_assert_uint_eq(ctx.guards.n_leases, 1);
	close(copy);
	wait_for_event();
	ck_assert_uint_eq(ctx.guards.n_leases, 0);
	ck_assert(is_closed(fds[0]));
}
END_TEST

START_TEST(data_in_a_pipe_is_not_its_end)
{
	int fds[2];

	make_pipe(fds);
	ck_assert_int_eq(write(fds[1], "x", 1), 1);
	ck_assert_int_eq(take_by(fds[0]), 0);
	ck_assert_int_eq(sd_event_run(ctx.event, 0), 0);
	ck_assert_uint_eq(ctx.guards.n_leases, 1);
	close(fds[1]);
	wait_for_event();
	ck_assert_uint_eq(ctx.guards.n_leases, 0);
}
END_TEST

START_TEST(second_end_of_a_held_pipe_is_refused)
{
	static void (*const makers[])(int fds[2]) = { make_pipe, make_pipe_for_writing };
	int fds[2], copy;

	makers[_i](fds);
	copy = dup(fds[0]);
	ck_assert_int_eq(take_by(fds[0]), 0);
	/* The same end, given twice, makes two guards. */
	ck_assert_int_eq(take_by(copy), 0);
	ck_assert_int_eq(take_by(fds[1]), LEASE_FD_ENDLESS);
	ck_assert(is_closed(fds[1]));
	ck_assert_uint_eq(ctx.guards.n_leases, 2);
	/* This ends both leases. */
	wait_for_event();
	wait_for_event();
	ck_assert_uint_eq(ctx.guards.n_leases, 0);
	ck_assert(is_closed(fds[0]) && is_closed(copy));
	/* Ends of different pipes are independent. */
	make_pipe(fds);
	ck_assert_int_eq(take_by(fds[0]), 0);
	make_pipe_for_writing(fds);
	ck_assert_int_eq(take_by(fds[0]), 0);
	ck_assert_uint_eq(ctx.guards.n_leases, 2);
}
END_TEST

/* Neither holder would notice the end of the other. */
START_TEST(second_end_of_a_held_pipe_is_refused_on_any_node)
{
	const struct ucred peer = { .pid = getpid(), .uid = 1 };
	const struct lease_wish wish = { .peer = &peer, .why = "", .ttl_usec = USEC_INFINITY };
	int fds[2];

	make_pipe(fds);
	ck_assert_int_eq(take_by(fds[0]), 0);
	ck_assert_int_eq(lease_fd_new(tree.root, &wish, fds[1]), LEASE_FD_ENDLESS);
	close(fds[1]);
	wait_for_event();
	ck_assert_uint_eq(ctx.guards.n_leases, 0);
}
END_TEST

START_TEST(descriptor_without_an_end_is_refused)
{
	char name[] = "/tmp/test-lease-XXXXXX";
	int pair[2], fds[7];
	size_t n = 0;

	ck_assert_ptr_nonnull(mkdtemp(name));
	fds[n++] = memfd_create("file", MFD_CLOEXEC);
	fds[n++] = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fds[n++] = open("/dev/null", O_RDWR | O_CLOEXEC);
	fds[n++] = eventfd(0, EFD_CLOEXEC);
	fds[n++] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(listen(fds[n - 1], 1), -1); /* it has no name: it ends at once */
	fds[n++] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair), 0);
	fds[n++] = pair[0];
	for (size_t i = 0; i < n; i++) {
		int r = take_by(fds[i]);

		if (r == 0) { /* a socket that was never connected has ended already */
			wait_for_event();
			ck_assert_uint_eq(ctx.guards.n_leases, 0);
		} else {
			ck_assert_int_eq(r, LEASE_FD_ENDLESS);
		}
		ck_assert_msg(is_closed(fds[i]), "%zu", i);
	}
	close(pair[1]);
	rmdir(name);
}
END_TEST

/* The daemon would wait for itself to close the other end. */
START_TEST(socket_of_a_pair_of_our_own_is_refused)
{
	static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET };
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, types[_i] | SOCK_CLOEXEC, 0, fds), 0);
	ck_assert_int_eq(take_by(fds[0]), LEASE_FD_ENDLESS);
	ck_assert(is_closed(fds[0]));
	ck_assert_uint_eq(ctx.guards.n_leases, 0);
	close(fds[1]);
}
END_TEST

START_TEST(descriptors_of_a_node_are_limited)
{
	int fds[2], other[LEASE_FDS_MAX];

	for (size_t i = 0; i < LEASE_FDS_MAX; i++) {
		make_pipe(fds);
		ck_assert_int_eq(take_by(fds[0]), 0);
		other[i] = fds[1];
	}
	make_pipe(fds);
	ck_assert_int_eq(take_by(fds[0]), LEASE_FD_FULL);
	ck_assert(is_closed(fds[0]));
	close(fds[1]);
	close(other[0]);
	wait_for_event();
	make_pipe(fds);
	ck_assert_int_eq(take_by(fds[0]), 0);
	close(fds[1]);
	for (size_t i = 1; i < LEASE_FDS_MAX; i++)
		close(other[i]);
	while (ctx.guards.n_leases > 0)
		wait_for_event();
}
END_TEST

START_TEST(revoked_descriptor_is_closed)
{
	int fds[2];

	make_pipe(fds);
	ck_assert_int_eq(take_by(fds[0]), 0);
	stop("web");
	ck_assert(!web->complete);
	force("web");
	ck_assert(web->complete && web->forced);
	ck_assert(is_closed(fds[0]));
	make_pipe(fds);
	ck_assert_int_eq(take_by(fds[0]), LEASE_STOPPED);
	ck_assert(is_closed(fds[0]));
	close(fds[1]);
}
END_TEST

/*
 * The other end is sent through a socket into that socket itself, which only the kernel can notice.
 */
static void hide(int fd)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { .iov_base = (char[]){ "x" }, .iov_len = 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int pair[2], fds[2];

	make_stream(pair);
	fds[0] = fd;
	fds[1] = pair[1];
	*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS,
			       .cmsg_len = CMSG_LEN(sizeof(fds)) };
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	ck_assert_int_eq(sendmsg(pair[0], &msg, 0), 1);
	/*
	 * The kernel looks for such sockets when a socket is closed that is not in flight: the last
	 * one.
	 */
	close(fd);
	close(pair[1]);
	close(pair[0]);
}

START_TEST(descriptor_hidden_in_itself_ends)
{
	int fds[2];

	if (_i)
		make_pipe(fds);
	else
		make_stream(fds);
	ck_assert_int_eq(take_by(fds[0]), 0);
	hide(fds[1]);
	while (ctx.guards.n_leases > 0)
		wait_for_event();
}
END_TEST

START_TEST(remaining_leases_end_with_the_tree)
{
	struct lease *lease;
	int fds[2];

	make_pipe(fds);
	ck_assert_int_eq(take_by(fds[0]), 0);
	ck_assert_int_eq(take_of(1, USEC_PER_SEC, false, &lease), 0);
	finish();
	ck_assert(is_closed(fds[0]));
	ck_assert_uint_eq(lost, 1);
	close(fds[1]);
}
END_TEST

TCase *lease_fd_tests(void)
{
	TCase *tc = lease_case("by a descriptor");

	tcase_add_loop_test(tc, lease_ends_with_the_other_end, 0, 4);
	tcase_add_test(tc, data_in_a_pipe_is_not_its_end);
	tcase_add_loop_test(tc, second_end_of_a_held_pipe_is_refused, 0, 2);
	tcase_add_test(tc, second_end_of_a_held_pipe_is_refused_on_any_node);
	tcase_add_test(tc, descriptor_without_an_end_is_refused);
	tcase_add_loop_test(tc, socket_of_a_pair_of_our_own_is_refused, 0, 2);
	tcase_add_test(tc, descriptors_of_a_node_are_limited);
	tcase_add_test(tc, revoked_descriptor_is_closed);
	tcase_add_loop_test(tc, descriptor_hidden_in_itself_ends, 0, 2);
	tcase_add_test(tc, remaining_leases_end_with_the_tree);
	return tc;
}
