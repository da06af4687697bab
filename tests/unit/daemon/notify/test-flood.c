/* Each message that is read makes the process of the test send the next one. */
#include "tests/unit/fixtures/main.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/loop/process.h"
#include "daemon/notify/notify.h"

#define ALL 100

static struct context ctx;
static struct process_table processes;
static struct notify *notify;
static unsigned heard;

static bool accepts(const struct ucred *sender, void *arg)
{
	(void)arg;
	return sender->pid == getpid();
}

static void on_refused(const char *part, const char *why, void *arg)
{
	(void)arg;
	ck_abort_msg("%s: %s", part, why);
}

static void send_ready(void)
{
	const char *name = notify_address(notify);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path + 1, name + 1, strlen(name) - 1);
	ck_assert_int_eq(sendto(fd, "READY=1", 7, MSG_DONTWAIT, (struct sockaddr *)&address,
				(socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))),
			 7);
	(void)close(fd);
}

static void on_message(const struct notify_message *message, const struct ucred *sender,
		       struct unix_passed *passed, void *arg)
{
	(void)sender;
	(void)passed;
	(void)arg;
	ck_assert_uint_eq(message->flags, NOTIFY_READY);
	if (++heard < ALL)
		send_ready();
}

static void setup(void)
{
	static struct log log = { .fd = STDERR_FILENO, .level = LOG_WARNING, .name = "test" };
	static struct signals signals;
	const struct notify_listener listener = {
		.accepts = accepts,
		.each = on_message,
		.refused = on_refused,
	};

	ck_assert_int_eq(context_init(&ctx, &log, &signals), 0);
	process_table_init(&processes);
	ctx.processes = &processes;
	ck_assert_int_eq(notify_new(&notify, &ctx, (uid_t)-1, &listener), 0);
	heard = 0;
}

static void teardown(void)
{
	notify = notify_free(notify);
	context_done(&ctx);
}

START_TEST(flood_leaves_other_events_their_turn)
{
	unsigned turns = 0;

	send_ready();
	while (heard < ALL) {
		unsigned before = heard;

		ck_assert_int_gt(sd_event_run(ctx.event, 0), 0);
		ck_assert_uint_gt(heard, before);
		ck_assert_uint_lt(heard - before, ALL / 2);
		turns++;
	}
	ck_assert_uint_gt(turns, 2);
	ck_assert_int_eq(sd_event_run(ctx.event, 0), 0);
}
END_TEST

/* All messages of a dead process apply before its end. */
START_TEST(drain_reads_more_than_a_turn)
{
	send_ready();
	notify_drain(notify);
	ck_assert_uint_eq(heard, ALL);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("flood of messages");
	TCase *tc = tcase_create("flood");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, flood_leaves_other_events_their_turn);
	tcase_add_test(tc, drain_reads_more_than_a_turn);
	suite_add_tcase(s, tc);
	return s;
}
