#include "main.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/notify.h"

/* --- what a message says --- */

START_TEST(ready_is_said_by_one_line)
{
	static const struct {
		const char *text;
		bool ready;
	} table[] = {
		{ "READY=1", true },
		{ "READY=1\n", true },
		{ "MAINPID=7\nREADY=1\nSTATUS=up", true },
		{ "STOPPING=1\nREADY=1", true },
		{ "STOPPING=1", false },
		{ "READY=0", false },
		{ "READY=11", false },
		{ "READY=", false },
		{ "READY", false },
		{ " READY=1", false },
		{ "READY=1 ", false },
		{ "READY=1\r\n", false },
		{ "X_READY=1", false },
		{ "STATUS=READY=1", false },
		{ "\n\n\n", false },
		{ "=", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct notify_message message;

		ck_assert_int_eq(notify_parse(table[i].text, strlen(table[i].text), &message), 0);
		ck_assert_msg(message.ready == table[i].ready, "'%s'", table[i].text);
	}
}
END_TEST

START_TEST(a_terminator_may_be_counted)
{
	struct notify_message message;

	ck_assert_int_eq(notify_parse("READY=1", 8, &message), 0);
	ck_assert(message.ready);
}
END_TEST

START_TEST(what_is_no_message_changes_nothing)
{
	static const struct {
		const char *text;
		size_t size;
	} table[] = { { "", 0 },
		      { "", 1 },
		      { "READY=1\0\0", 9 },
		      { "\0READY=1", 8 },
		      { "READY=1\0STATUS=x", 16 } };
	struct notify_message message = { .status = "before" };

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		ck_assert_int_eq(notify_parse(table[i].text, table[i].size, &message), -EBADMSG);
	ck_assert(!message.ready);
	ck_assert_str_eq(message.status, "before");
}
END_TEST

START_TEST(the_last_status_counts)
{
	struct notify_message message;
	const char *text = "STATUS=a long one\nSTATUS=short";

	ck_assert_int_eq(notify_parse(text, strlen(text), &message), 0);
	ck_assert(message.has_status);
	ck_assert_str_eq(message.status, "short");
	ck_assert_int_eq(notify_parse("STATUS=", 7, &message), 0);
	ck_assert(message.has_status);
	ck_assert_str_eq(message.status, "");
	ck_assert_int_eq(notify_parse("READY=1", 7, &message), 0);
	ck_assert(!message.has_status);
}
END_TEST

START_TEST(a_message_of_any_length_ends)
{
	char text[NOTIFY_MESSAGE_MAX + 2];
	struct notify_message message;

	memset(text, 'x', sizeof(text));
	memcpy(text, "STATUS=", 7);
	ck_assert_int_eq(notify_parse(text, NOTIFY_MESSAGE_MAX, &message), 0);
	ck_assert_uint_eq(strlen(message.status), NOTIFY_STATUS_MAX - 1);
	ck_assert_int_eq(notify_parse(text, NOTIFY_MESSAGE_MAX + 1, &message), -EBADMSG);
	text[NOTIFY_MESSAGE_MAX] = '\0';
	ck_assert_int_eq(notify_parse(text, NOTIFY_MESSAGE_MAX + 1, &message), 0);
}
END_TEST

/* --- whose message counts --- */

static struct context ctx;
static struct notify *notify;
static struct notify_message last;
static unsigned heard;

static void on_message(const struct notify_message *message, void *arg)
{
	ck_assert_ptr_eq(arg, &ctx);
	last = *message;
	heard++;
}

static void setup(void)
{
	static struct log log = { .fd = STDERR_FILENO, .level = LOG_WARNING, .name = "test" };
	static struct signals signals;

	ck_assert_int_eq(context_init(&ctx, &log, &signals), 0);
	ck_assert_int_eq(notify_new(&notify, &ctx, on_message, &ctx), 0);
	heard = 0;
}

static void teardown(void)
{
	notify = notify_free(notify);
	context_done(&ctx);
}

static int send_text(const char *text, size_t size)
{
	const char *name = notify_address(notify);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	ssize_t n;

	memcpy(address.sun_path + 1, name + 1, strlen(name) - 1);
	n = sendto(fd, text, size, MSG_DONTWAIT, (struct sockaddr *)&address,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name)));
	(void)close(fd);
	return n == (ssize_t)size ? 0 : -1;
}

struct text {
	const char *text;
	size_t size;
};

/* A process that sends these and is dead on return, but not collected; in a session of its own or ours. */
static pid_t add_sender(bool own_session, const struct text *texts, size_t n)
{
	siginfo_t info;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int r = 0;

		if (own_session)
			(void)setsid();
		for (size_t i = 0; i < n; i++)
			r |= send_text(texts[i].text, texts[i].size);
		_exit(r != 0);
	}
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(info.si_status, 0);
	return pid;
}

static const struct text ready = { "READY=1", 7 };

START_TEST(a_service_is_heard_after_its_death)
{
	pid_t pid = add_sender(true, &ready, 1);

	notify_set_session(notify, pid);
	notify_drain(notify);
	ck_assert_uint_eq(heard, 1);
	ck_assert(last.ready);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(others_are_not_heard)
{
	pid_t service = add_sender(true, &ready, 1), other = add_sender(false, &ready, 1);

	notify_set_session(notify, service);
	notify_drain(notify);
	ck_assert_uint_eq(heard, 1); /* of two */
	notify_set_session(notify, 0);
	ck_assert_int_eq(send_text("READY=1", 7), 0);
	notify_drain(notify);
	ck_assert_uint_eq(heard, 1);
	ck_assert_int_eq(waitpid(service, NULL, 0), service);
	ck_assert_int_eq(waitpid(other, NULL, 0), other);
}
END_TEST

START_TEST(bad_messages_do_not_hide_good_ones)
{
	static char flood[NOTIFY_MESSAGE_MAX + 100];
	const struct text texts[] = {
		{ "", 0 }, { flood, sizeof(flood) }, { "READY=1\0x", 9 }, { "READY=1", 7 }
	};
	pid_t pid;

	memset(flood, 'x', sizeof(flood));
	pid = add_sender(true, texts, ARRAY_SIZE(texts));
	notify_set_session(notify, pid);
	notify_drain(notify);
	ck_assert_uint_eq(heard, 1);
	ck_assert(last.ready);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

START_TEST(the_loop_brings_messages)
{
	const struct text texts[] = { { "STATUS=one", 10 }, { "STATUS=two", 10 } };
	pid_t pid = add_sender(true, texts, ARRAY_SIZE(texts));

	notify_set_session(notify, pid);
	ck_assert_int_gt(sd_event_run(ctx.event, 0), 0);
	ck_assert_uint_eq(heard, 2);
	ck_assert_str_eq(last.status, "two");
	ck_assert_int_eq(sd_event_run(ctx.event, 0), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-notify");
	TCase *tc = tcase_create("daemon-notify");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, ready_is_said_by_one_line);
	tcase_add_test(tc, a_terminator_may_be_counted);
	tcase_add_test(tc, what_is_no_message_changes_nothing);
	tcase_add_test(tc, the_last_status_counts);
	tcase_add_test(tc, a_message_of_any_length_ends);
	tcase_add_test(tc, a_service_is_heard_after_its_death);
	tcase_add_test(tc, others_are_not_heard);
	tcase_add_test(tc, bad_messages_do_not_hide_good_ones);
	tcase_add_test(tc, the_loop_brings_messages);
	suite_add_tcase(s, tc);
	return s;
}
