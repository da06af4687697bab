/* The rights of a connection on which other users write than the one that connected. */
#include "tests/unit/fixtures/main.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/macro.h"
#include "daemon/control/connection.h"
#include "daemon/loop/context.h"

#define CLIENT 12345 /* the user that connects */

static struct context ctx;

static void ignore_call(struct connection *c, enum interface_method method,
			const struct message_call *call, void *arg)
{
	(void)c, (void)method, (void)call, (void)arg;
}

static void ignore_end(struct connection *c, void *arg)
{
	(void)c, (void)arg;
}

static const struct connection_owner owner = { .call = ignore_call, .closed = ignore_end };

static void setup(void)
{
	static struct log log = { .fd = -1, .level = LOG_EMERG, .name = "test" };
	static struct signals signals;

	ck_assert_int_eq(context_init(&ctx, &log, &signals), 0);
}

static void teardown(void)
{
	context_done(&ctx);
}

/* Returns the connection of a client that is CLIENT; *ret is its end. */
static struct connection *connect_as_client(int *ret)
{
	struct connection *c;
	int fds[2];

	ck_assert_int_eq(seteuid(CLIENT), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds),
			 0);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(unix_pass_credentials(fds[0]), 0);
	ck_assert_int_eq(connection_new(&c, &ctx, fds[0], &owner), 0);
	ck_assert_uint_eq(c->peer.uid, CLIENT);
	c->tier = TIER_RUN;
	*ret = fds[1];
	return c;
}

/* Writes the beginning of a call as another user. */
static void write_as(int fd, uid_t uid)
{
	const struct ucred sender = { .pid = getpid(), .uid = uid };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(sender))];
	} control = { .bytes = "" };
	char text[] = "{";
	struct iovec iov = { text, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&msg);

	*header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
				    .cmsg_type = SCM_CREDENTIALS,
				    .cmsg_len = CMSG_LEN(sizeof(sender)) };
	memcpy(CMSG_DATA(header), &sender, sizeof(sender));
	ck_assert_int_eq(sendmsg(fd, &msg, 0), 1);
}

static const struct {
	uid_t writer;
	enum connection_tier tier;
} writers[] = {
	{ CLIENT, TIER_RUN },
	{ 0, TIER_RUN },
	{ 1, TIER_LOOK },
	{ CLIENT + 1, TIER_LOOK },
};

START_TEST(connection_on_which_another_user_writes_may_only_look)
{
	struct connection *c;
	int fd;

	if (getuid() != 0) {
		(void)fputs("# skipped: only root can write as another user\n", stderr);
		return;
	}
	c = connect_as_client(&fd);
	write_as(fd, writers[_i].writer);
	ck_assert_int_gt(sd_event_run(ctx.event, 10 * USEC_PER_SEC), 0);
	ck_assert_int_eq(c->tier, writers[_i].tier);
	write_as(fd, CLIENT);
	ck_assert_int_gt(sd_event_run(ctx.event, 10 * USEC_PER_SEC), 0);
	ck_assert_int_eq(c->tier, writers[_i].tier);
	connection_free(c);
	(void)close(fd);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("writers of a connection");
	TCase *tc = tcase_create("rights");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, connection_on_which_another_user_writes_may_only_look, 0,
			    ARRAY_SIZE(writers));
	suite_add_tcase(suite, tc);
	return suite;
}
