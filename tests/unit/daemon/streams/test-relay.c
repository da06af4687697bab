#include "tests/unit/fixtures/main.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/streams/relay.h"

static struct log log_;
static struct context ctx;
static struct relay *relay;
static int to[2]; /* the other end: we read 0 */
static char seen[4096 * 4];
static bool once;

static void on_line(void *arg, const char *line)
{
	ck_assert_ptr_eq(arg, seen);
	ck_assert_uint_le(strlen(line), OUTPUT_LINE_MAX);
	strcat(strcat(seen, line), "|");
	if (once)
		relay_watch(relay, false);
}

static void setup(void)
{
	*seen = '\0';
	once = false;
	log_ = (struct log){ .fd = STDERR_FILENO, .level = LOG_DEBUG, .name = "test" };
	ctx = (struct context){ .log = &log_ };
	ck_assert_int_ge(sd_event_new(&ctx.event), 0);
	ck_assert_int_eq(relay_new(&relay, &ctx, "a", 1, on_line, seen), 0);
}

static void teardown(void)
{
	relay = relay_free(relay);
	ctx.event = sd_event_unref(ctx.event);
	for (int i = 0; i < 2; i++)
		if (to[i] > 0)
			(void)close(to[i]);
	to[0] = to[1] = -1;
}

static void to_pipe(void)
{
	ck_assert_int_eq(pipe2(to, O_CLOEXEC), 0);
	ck_assert_int_ge(relay_direct(relay, to[1]), 0);
	ck_assert_int_eq(fcntl(to[1], F_GETFL) & O_NONBLOCK, 0); /* which others share */
	ck_assert_int_eq(fcntl(to[0], F_SETFL, O_NONBLOCK), 0);
}

static void to_socket(void)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to), 0);
	ck_assert_int_ge(relay_direct(relay, to[1]), 0);
	ck_assert_int_eq(fcntl(to[0], F_SETFL, O_NONBLOCK), 0);
}

static void writes(const char *text)
{
	ck_assert_int_eq(write(relay_fd(relay), text, strlen(text)), (ssize_t)strlen(text));
}

static void run(void)
{
	int n;

	do {
		n = sd_event_run(ctx.event, 0);
		ck_assert_int_ge(n, 0);
	} while (n > 0);
}

static void arrives(const char *text)
{
	char buf[1000] = "";

	ck_assert_int_eq(read(to[0], buf, sizeof(buf) - 1), (ssize_t)strlen(text));
	ck_assert_str_eq(buf, text);
}

START_TEST(lines_are_reported_and_passed_on)
{
	to_pipe();
	relay_watch(relay, true);
	writes("one\ntwo\n\nthr");
	run();
	ck_assert_str_eq(seen, "one|two||");
	arrives("one\ntwo\n\nthr");
	writes("ee\n");
	run();
	ck_assert_str_eq(seen, "one|two||three|");
	arrives("ee\n");
}
END_TEST

START_TEST(no_line_is_reported_after_the_match)
{
	to_pipe();
	once = true;
	relay_watch(relay, true);
	writes("one\ntwo\n");
	run();
	ck_assert_str_eq(seen, "one|");
	arrives("one\ntwo\n");
}
END_TEST

START_TEST(earlier_output_is_not_reported)
{
	to_pipe();
	writes("old\nlef");
	ck_assert_int_ge(relay_direct(relay, to[1]), 0);
	relay_watch(relay, true);
	writes("t\nnew\n");
	run();
	ck_assert_str_eq(seen, "t|new|");
	arrives("old\nleft\nnew\n");
}
END_TEST

START_TEST(long_line_is_reported_in_pieces)
{
	char text[OUTPUT_LINE_MAX + 3];

	to_socket();
	relay_watch(relay, true);
	memset(text, 'x', sizeof(text) - 2);
	strcpy(text + sizeof(text) - 2, "\n");
	writes(text);
	run();
	ck_assert_uint_eq(strlen(seen), OUTPUT_LINE_MAX + 3);
	ck_assert_int_eq(seen[OUTPUT_LINE_MAX], '|');
}
END_TEST

/* An endless writer fills all buffers; then nothing moves until the destination is read. */
START_TEST(full_destination_blocks_the_writer)
{
	unsigned long sent = 0, got = 0;
	unsigned idle = 0;

	_i ? to_socket() : to_pipe();
	ck_assert_int_eq(fcntl(relay_fd(relay), F_SETFL, O_NONBLOCK), 0);
	while (idle < 2) {
		unsigned long before = sent;
		ssize_t n;

		while ((n = write(relay_fd(relay), &sent, sizeof(sent))) == sizeof(sent))
			sent++;
		ck_assert_int_eq(n, -1);
		run();
		idle = sent == before ? idle + 1 : 0;
	}
	while (got < sent) {
		unsigned long number;

		if (read(to[0], &number, sizeof(number)) == sizeof(number))
			ck_assert_uint_eq(number, got++);
		else
			run();
	}
}
END_TEST

START_TEST(file_always_has_room)
{
	FILE *file = tmpfile();
	char buf[16] = "";

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(relay_direct(relay, fileno(file)), 0);
	writes("one\n");
	run();
	writes("two");
	relay = relay_free(relay);
	ck_assert_int_eq(pread(fileno(file), buf, sizeof(buf), 0), 7);
	ck_assert_str_eq(buf, "one\ntwo");
	(void)fclose(file);
}
END_TEST

/* Output that comes back as input, or comes as fast as it is written, has no end. */
START_TEST(drain_ends_though_the_input_does_not)
{
	ck_assert_int_ge(relay_direct(relay, relay_fd(relay)), 0);
	writes("again\n");
	ck_assert(!relay_drain(relay));
}
END_TEST

START_TEST(drain_empties_a_full_pipe)
{
	char block[4096], last[4] = "";
	unsigned long sent = 0, got = 0;
	FILE *file = tmpfile();

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(relay_direct(relay, fileno(file)), 0);
	ck_assert_int_eq(fcntl(relay_fd(relay), F_SETFL, O_NONBLOCK), 0);
	memset(block, 'x', sizeof(block));
	while (write(relay_fd(relay), block, sizeof(block)) == sizeof(block))
		sent += sizeof(block);
	ck_assert(relay_drain(relay));
	got = (unsigned long)lseek(fileno(file), 0, SEEK_END);
	ck_assert_uint_eq(got, sent);
	ck_assert_int_eq(pread(fileno(file), last, 3, (off_t)sent - 3), 3);
	ck_assert_str_eq(last, "xxx");
	(void)fclose(file);
}
END_TEST

START_TEST(output_to_a_closed_pipe_is_lost)
{
	to_pipe();
	(void)close(to[0]);
	to[0] = -1;
	for (unsigned i = 0; i < 1000; i++) {
		writes("0123456789012345678901234567890123456789012345678901234567890123456789\n");
		run();
	}
	to_socket();
	writes("again\n");
	run();
	arrives("again\n");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("daemon-relay");
	TCase *tc = tcase_create("relay");

	(void)signal(SIGPIPE, SIG_IGN);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, lines_are_reported_and_passed_on);
	tcase_add_test(tc, no_line_is_reported_after_the_match);
	tcase_add_test(tc, earlier_output_is_not_reported);
	tcase_add_test(tc, long_line_is_reported_in_pieces);
	tcase_add_loop_test(tc, full_destination_blocks_the_writer, 0, 2);
	tcase_add_test(tc, file_always_has_room);
	tcase_add_test(tc, drain_ends_though_the_input_does_not);
	tcase_add_test(tc, drain_empties_a_full_pipe);
	tcase_add_test(tc, output_to_a_closed_pipe_is_lost);
	suite_add_tcase(suite, tc);
	return suite;
}
