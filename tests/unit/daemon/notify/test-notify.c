#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
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
#include "daemon/loop/closer.h"
#include "daemon/notify/notify.h"

/* --- the contents of a message --- */

static struct notify_message parsed(const char *text)
{
	struct notify_message message;

	ck_assert_int_eq(notify_parse(text, strlen(text), &message), 0);
	return message;
}

START_TEST(line_sets_one_member_or_none)
{
	static const struct {
		const char *text;
		unsigned flags;
	} table[] = {
		{ "READY=1", NOTIFY_READY },
		{ "READY=1\n", NOTIFY_READY },
		{ "MAINPID=7\nREADY=1\nSTATUS=up", NOTIFY_MAINPID | NOTIFY_READY | NOTIFY_STATUS },
		{ "STOPPING=1\nREADY=1", NOTIFY_STOPPING | NOTIFY_READY },
		{ "STOPPING=1", NOTIFY_STOPPING },
		{ "RELOADING=1\nMONOTONIC_USEC=5", NOTIFY_RELOADING | NOTIFY_MONOTONIC },
		{ "READY=0", 0 },
		{ "READY=11", 0 },
		{ "READY=", 0 },
		{ "READY", 0 },
		{ " READY=1", 0 },
		{ "READY=1 ", 0 },
		{ "READY=1\r\n", 0 },
		{ "ready=1", 0 },
		{ "X_READY=1", 0 },
		{ "STATUS=READY=1", NOTIFY_STATUS },
		{ "STATUS", 0 },
		{ "ERRNO=2", NOTIFY_ERRNO },
		{ "ERRNO=0", NOTIFY_ERRNO },
		{ "ERRNO=4096", 0 },
		{ "ERRNO=-2", 0 },
		{ "ERRNO=ENOENT", 0 },
		{ "ERRNO=", 0 },
		{ "BUSERROR=org.example.Failed", 0 },
		{ "EXIT_STATUS=3", 0 },
		{ "MAINPID=1", NOTIFY_MAINPID },
		{ "MAINPID=0", 0 },
		{ "MAINPID=-1", 0 },
		{ "MAINPID=2147483648", 0 },
		{ "MAINPID=99999999999999999999", 0 },
		{ "WATCHDOG=1", NOTIFY_WATCHDOG },
		{ "WATCHDOG=trigger", NOTIFY_WATCHDOG_TRIGGER },
		{ "WATCHDOG=2", 0 },
		{ "WATCHDOG_USEC=0", NOTIFY_WATCHDOG_USEC },
		{ "WATCHDOG_USEC=18446744073709551615", NOTIFY_WATCHDOG_USEC },
		{ "WATCHDOG_USEC=18446744073709551616", 0 },
		{ "EXTEND_TIMEOUT_USEC=5000000", NOTIFY_EXTEND },
		{ "EXTEND_TIMEOUT_USEC=5s", 0 },
		{ "FDSTORE=1\nFDNAME=a\nFDPOLL=0",
		  NOTIFY_FDSTORE | NOTIFY_FDNAME | NOTIFY_FDPOLL_OFF },
		{ "FDPOLL=1", 0 },
		{ "FDSTOREREMOVE=1", NOTIFY_FDSTORE_REMOVE },
		{ "FDNAME=a:b", 0 },
		{ "FDNAME=", 0 },
		{ "FDNAME=\303\244", 0 },
		{ "FDNAME=a\tb", 0 },
		{ "BARRIER=1", NOTIFY_BARRIER },
		{ "NOTIFYACCESS=all", 0 },
		{ "\n\n\n", 0 },
		{ "=", 0 },
		{ "=1", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		ck_assert_msg(parsed(table[i].text).flags == table[i].flags, "'%s': %#x",
			      table[i].text, parsed(table[i].text).flags);
}
END_TEST

START_TEST(values_arrive)
{
	struct notify_message m = parsed("MAINPID=77\nERRNO=13\nWATCHDOG_USEC=1\nFDNAME=x y\n"
					 "EXTEND_TIMEOUT_USEC=18446744073709551615\n"
					 "MONOTONIC_USEC=3\nSTATUS=a=b");

	ck_assert_int_eq(m.main_pid, 77);
	ck_assert_int_eq(m.error, 13);
	ck_assert_uint_eq(m.watchdog_usec, 1);
	ck_assert_uint_eq(m.extend_usec, UINT64_MAX);
	ck_assert_uint_eq(m.monotonic_usec, 3);
	ck_assert_str_eq(m.fdname, "x y");
	ck_assert_str_eq(m.status, "a=b");
}
END_TEST

START_TEST(a_terminator_may_be_counted)
{
	struct notify_message message;

	ck_assert_int_eq(notify_parse("READY=1", 8, &message), 0);
	ck_assert_uint_eq(message.flags, NOTIFY_READY);
}
END_TEST

START_TEST(invalid_message_changes_nothing)
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
	ck_assert_uint_eq(message.flags, 0);
	ck_assert_str_eq(message.status, "before");
}
END_TEST

START_TEST(the_last_of_a_kind_counts)
{
	ck_assert_str_eq(parsed("STATUS=a long one\nSTATUS=short").status, "short");
	ck_assert_str_eq(parsed("STATUS=").status, "");
	ck_assert_int_eq(parsed("ERRNO=1\nERRNO=2").error, 2);
	ck_assert_int_eq(parsed("ERRNO=1\nERRNO=x").error, 1);
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

START_TEST(a_long_status_is_cut_between_characters)
{
	char text[7 + 2 * NOTIFY_STATUS_MAX] = "STATUS=";
	struct notify_message message;

	for (size_t i = 7; i + 1 < sizeof(text); i += 2)
		memcpy(text + i, "\303\244", 2);
	ck_assert_int_eq(notify_parse(text, sizeof(text) - 1, &message), 0);
	ck_assert_uint_eq(strlen(message.status), NOTIFY_STATUS_MAX - 2);
}
END_TEST

START_TEST(a_name_of_a_descriptor_is_bounded)
{
	char name[FDNAME_MAX + 1];

	memset(name, 'n', sizeof(name));
	name[FDNAME_MAX] = '\0';
	ck_assert(!fdname_is_good(name));
	name[FDNAME_MAX - 1] = '\0';
	ck_assert(fdname_is_good(name));
}
END_TEST

/* Pieces of valid messages and random bytes, in any order: results stay within their bounds. */
START_TEST(guard_name_is_printable_text)
{
	static const struct {
		const char *value, *name;
	} table[] = {
		{ "nightly", "nightly" },
		{ "K\xc3\xb6ln: \"all\"", "K\xc3\xb6ln: \"all\"" },
		{ "", "" },
		{ "a\tb", "" },
		{ "a\x7f", "" },
		{ "a\xff", "" },
	};
	char text[300] = "X_SWANSONG_GUARD=";
	size_t start = strlen(text);

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct notify_message message;

		strcpy(text + start, table[i].value);
		message = parsed(text);
		ck_assert_uint_eq(message.flags, NOTIFY_GUARD);
		ck_assert_str_eq(message.guard, table[i].name);
	}
	memset(text + start, 'x', NOTIFY_GUARD_MAX);
	text[start + NOTIFY_GUARD_MAX] = '\0';
	ck_assert_uint_eq(strlen(parsed(text).guard), NOTIFY_GUARD_MAX);
	strcat(text, "x");
	ck_assert_str_eq(parsed(text).guard, "");
}
END_TEST

START_TEST(nothing_goes_out_of_bounds)
{
	static const char *const pieces[] = {
		"READY=1",	  "STATUS=",	 "\n",	       "\303\244", "ERRNO=",	"MAINPID=",
		"FDNAME=",	  "WATCHDOG=",	 "4294967296", "=",	   "FDSTORE=1", "1",
		"WATCHDOG_USEC=", "BARRIER=1\n", "\377\376",   ":",	   "-1",	"trigger",
	};
	unsigned seed = (unsigned)_i + 1;

	for (int round = 0; round < 2000; round++) {
		char text[NOTIFY_MESSAGE_MAX + 64];
		struct notify_message message;
		size_t size = 0, room = (size_t)rand_r(&seed) % (sizeof(text) - 20) + 1;

		while (size < room) {
			const char *piece = pieces[(size_t)rand_r(&seed) % ARRAY_SIZE(pieces)];

			if (rand_r(&seed) % 8 == 0)
				text[size++] = (char)rand_r(&seed);
			else
				size = (size_t)((char *)mempcpy(text + size, piece, strlen(piece)) -
						text);
		}
		if (notify_parse(text, size, &message) < 0)
			continue;
		ck_assert_uint_le(size, NOTIFY_MESSAGE_MAX + 1);
		ck_assert_uint_lt(strlen(message.status), NOTIFY_STATUS_MAX);
		ck_assert_int_ge(message.error, 0);
		ck_assert_int_ge(message.main_pid, 0);
		if (message.flags & NOTIFY_FDNAME)
			ck_assert(fdname_is_good(message.fdname));
		if (!(message.flags & NOTIFY_STATUS))
			ck_assert_str_eq(message.status, "");
	}
}
END_TEST

/* --- senders --- */

static struct context ctx;
static struct process_table processes;
static struct notify *notify;
static struct notify_message last;
static unsigned heard;
static size_t passed_n;
static pid_t accepted;

static bool accepts(const struct ucred *sender, void *arg)
{
	ck_assert_ptr_eq(arg, &ctx);
	return sender->pid == accepted;
}

static void on_message(const struct notify_message *message, const struct ucred *sender,
		       struct unix_passed *passed, void *arg)
{
	ck_assert_ptr_eq(arg, &ctx);
	ck_assert_int_eq(sender->pid, accepted);
	last = *message;
	passed_n = passed->n;
	heard++;
}

static unsigned refused;

static void on_refused(const char *what, const char *why, void *arg)
{
	(void)what;
	(void)why;
	(void)arg;
	refused++;
}

static void setup(void)
{
	static struct log log = { .fd = STDERR_FILENO, .level = LOG_WARNING, .name = "test" };
	static struct signals signals;
	const struct notify_listener listener = {
		.accepts = accepts,
		.each = on_message,
		.refused = on_refused,
		.node = "web",
		.arg = &ctx,
	};

	ck_assert_int_eq(context_init(&ctx, &log, &signals), 0);
	process_table_init(&processes);
	ctx.processes = &processes;
	ck_assert_int_eq(notify_new(&notify, &ctx, (uid_t)-1, &listener), 0);
	heard = refused = 0;
}

static void teardown(void)
{
	notify = notify_free(notify);
	closer_discards_done(&ctx);
	context_done(&ctx);
}

struct text {
	const char *text;
	size_t size;
	int fd; /* passed along; 0: none */
};

static int send_text(const struct text *text)
{
	const char *name = notify_address(notify);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec iov = { .iov_base = (char *)text->text, .iov_len = text->size };
	struct msghdr msg = {
		.msg_name = &address,
		.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name)),
		.msg_iov = &iov,
		.msg_iovlen = 1,
	};
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	ssize_t n;

	memcpy(address.sun_path + 1, name + 1, strlen(name) - 1);
	if (text->fd) {
		struct cmsghdr *c;

		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
				       .cmsg_type = SCM_RIGHTS,
				       .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(c), &text->fd, sizeof(int));
	}
	n = sendmsg(fd, &msg, MSG_DONTWAIT);
	(void)close(fd);
	return n == (ssize_t)text->size ? 0 : -1;
}

/* Starts a process that sends these messages; on return it is dead, but not collected. */
static pid_t add_sender(const struct text *texts, size_t n)
{
	siginfo_t info;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int r = 0;

		for (size_t i = 0; i < n; i++)
			r |= send_text(&texts[i]);
		_exit(r != 0);
	}
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(info.si_status, 0);
	return pid;
}

static const struct text ready = { "READY=1", 7, 0 };

START_TEST(message_of_a_dead_member_is_accepted)
{
	accepted = add_sender(&ready, 1);
	notify_drain(notify);
	ck_assert_uint_eq(heard, 1);
	ck_assert_uint_eq(last.flags, NOTIFY_READY);
	ck_assert_int_eq(waitpid(accepted, NULL, 0), accepted);
}
END_TEST

START_TEST(message_of_a_foreign_process_is_ignored)
{
	pid_t other = add_sender(&ready, 1);

	accepted = add_sender(&ready, 1);
	notify_drain(notify);
	ck_assert_uint_eq(heard, 1); /* of two messages */
	ck_assert_int_eq(waitpid(accepted, NULL, 0), accepted);
	ck_assert_int_eq(waitpid(other, NULL, 0), other);
}
END_TEST

START_TEST(bad_messages_do_not_hide_good_ones)
{
	static char flood[NOTIFY_MESSAGE_MAX + 100];
	const struct text texts[] = { { "", 0, 0 },
				      { flood, sizeof(flood), 0 },
				      { "READY=1\0x", 9, 0 },
				      { "READY=1", 7, 0 } };

	memset(flood, 'x', sizeof(flood));
	accepted = add_sender(texts, ARRAY_SIZE(texts));
	notify_drain(notify);
	ck_assert_uint_eq(heard, 1);
	ck_assert_uint_eq(last.flags, NOTIFY_READY);
	ck_assert_int_eq(waitpid(accepted, NULL, 0), accepted);
}
END_TEST

/* Runs the loop and collects the closers, as the daemon does with all its children. */
static void drain_all(void)
{
	pid_t pid;

	notify_drain(notify);
	while ((pid = waitpid(-1, NULL, 0)) > 0) {
		struct process *closer = process_find(&processes, pid);

		if (closer)
			closer_died(closer, &(struct reap_exit){ .pid = pid });
		notify_drain(notify);
	}
}

/* Its end shows that no copy of it is left, here or in flight. */
static void check_is_closed(int fd)
{
	char byte;

	ck_assert_int_eq(read(fd, &byte, 1), 0);
}

START_TEST(descriptors_of_any_sender_are_closed)
{
	static char flood[NOTIFY_MESSAGE_MAX + 100];

	for (int good = 0; good < 2; good++) {
		int fds[2];

		ck_assert_int_eq(pipe(fds), 0);

		const struct text texts[] = { { "READY=1", 7, fds[1] },
					      { "", 0, fds[1] },
					      { flood, sizeof(flood), fds[1] } };
		pid_t pid = add_sender(texts, ARRAY_SIZE(texts));

		accepted = good ? pid : 0;
		(void)close(fds[1]);
		drain_all();
		ck_assert_uint_eq(heard, good);
		check_is_closed(fds[0]);
		(void)close(fds[0]);
	}
	ck_assert_uint_eq(passed_n, 1);
}
END_TEST

/* A file may be served by another process, for which close() waits. */
START_TEST(a_file_is_closed_by_a_process_of_its_own)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const struct text texts[] = { { "READY=1", 7, fd } };
	pid_t pid = add_sender(texts, 1);
	siginfo_t info;

	accepted = pid;
	notify_drain(notify);
	ck_assert_uint_eq(heard, 1);
	ck_assert_uint_eq(passed_n, 0);
	ck_assert_uint_eq(refused, 1);
	(void)close(fd);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(waitid(P_ALL, 0, &info, WEXITED), 0);
	ck_assert_ptr_nonnull(process_find(&processes, info.si_pid));
	ck_assert_int_eq(info.si_status, 0);
}
END_TEST

/* A child that is not collected counts as one that hangs. */
START_TEST(one_child_may_hang_and_then_messages_wait)
{
	unsigned sent = 0, children = 0;
	struct process *p;
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);

	const struct text text = { "STATUS=x", 8, fds[1] };

	while (heard == sent && sent < 1000) {
		accepted = add_sender(&text, 1);
		sent++;
		notify_drain(notify);
		ck_assert_int_eq(waitpid(accepted, NULL, 0), accepted);
	}
	ck_assert_uint_gt(sent, 16);
	ck_assert_uint_lt(sent, 200);
	for (size_t i = 0; i < ARRAY_SIZE(processes.buckets); i++)
		list_for_each (p, &processes.buckets[i], by_pid)
			children++;
	ck_assert_uint_eq(children, 1);
	(void)close(fds[1]);
	drain_all();
	ck_assert_uint_eq(heard, sent);
	check_is_closed(fds[0]);
}
END_TEST

START_TEST(the_loop_brings_messages)
{
	const struct text texts[] = { { "STATUS=one", 10, 0 }, { "STATUS=two", 10, 0 } };

	accepted = add_sender(texts, ARRAY_SIZE(texts));
	ck_assert_int_gt(sd_event_run(ctx.event, 0), 0);
	ck_assert_uint_eq(heard, 2);
	ck_assert_str_eq(last.status, "two");
	ck_assert_int_eq(sd_event_run(ctx.event, 0), 0);
	ck_assert_int_eq(waitpid(accepted, NULL, 0), accepted);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-notify");
	TCase *tc = tcase_create("messages");

	tcase_add_test(tc, line_sets_one_member_or_none);
	tcase_add_test(tc, values_arrive);
	tcase_add_test(tc, a_terminator_may_be_counted);
	tcase_add_test(tc, invalid_message_changes_nothing);
	tcase_add_test(tc, the_last_of_a_kind_counts);
	tcase_add_test(tc, a_message_of_any_length_ends);
	tcase_add_test(tc, a_long_status_is_cut_between_characters);
	tcase_add_test(tc, a_name_of_a_descriptor_is_bounded);
	tcase_add_test(tc, guard_name_is_printable_text);
	tcase_add_loop_test(tc, nothing_goes_out_of_bounds, 0, 8);
	suite_add_tcase(s, tc);

	tc = tcase_create("senders");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, message_of_a_dead_member_is_accepted);
	tcase_add_test(tc, message_of_a_foreign_process_is_ignored);
	tcase_add_test(tc, bad_messages_do_not_hide_good_ones);
	tcase_add_test(tc, descriptors_of_any_sender_are_closed);
	tcase_add_test(tc, a_file_is_closed_by_a_process_of_its_own);
	tcase_add_test(tc, one_child_may_hang_and_then_messages_wait);
	tcase_add_test(tc, the_loop_brings_messages);
	suite_add_tcase(s, tc);
	return s;
}
