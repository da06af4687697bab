#include "tests/unit/daemon/logger/fake-logger.h"

/* ready = log:REGEX: which lines in the ring of the logger match.  The test writes the ring. */

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "daemon/logger/capture.h"

static const char apart[] =
	"[a]\ncommand = x\nready = log:^now ready$\nstdout = file:/o\nstderr = file:/e\n";
static const char together[] = "[a]\ncommand = x\nready = log:^now ready$\nlog = null\n";

static struct config *config;
static struct capture *capture;
static unsigned matches;

static void on_match(void *arg)
{
	ck_assert_ptr_eq(arg, &matches);
	matches++;
	capture_watch(capture, NULL, NULL);
}

static void setup(void)
{
	begin("");
	fake_logger_begin();
	matches = 0;
}

static void teardown(void)
{
	capture = capture_free(capture);
	config_unref(config);
	config = NULL;
	fake_logger_end();
	finish();
}

static struct log_stream *stream(int fd)
{
	enum logger_kind kind =
		fd == 2 && capture_stream(capture, LOGGER_ERROR) ? LOGGER_ERROR : LOGGER_OUTPUT;

	return (struct log_stream *)(uintptr_t)capture_stream(capture, kind);
}

static uint64_t watched(int fd)
{
	return log_stream_record(stream(fd))->watched;
}

static void load_capture(const char *text)
{
	config = load(text);
	ck_assert_int_eq(capture_new(&capture, &ctx, config->nodes[1]), 0);
	ck_assert_ptr_nonnull(capture);
}

/* The pipes of the first process are made. */
static void begin_capture(const char *text)
{
	load_capture(text);
	fake_logger_is_ready();
	for (int fd = 1; fd <= 2; fd++) {
		int end = fd == 1 || capture_stream(capture, LOGGER_ERROR)
				  ? capture_open(capture, fd)
				  : -1;

		if (end >= 0)
			(void)close(end);
	}
}

/* A process is made, and its program runs. */
static void begin_run(void)
{
	ck_assert_int_eq(capture_mark(capture), 0);
	capture_watch(capture, on_match, &matches);
	turns();
}

static void set_end(int fd, uint64_t end)
{
	struct store_record record = { .inputs = { { .taken = end }, { .taken = end } } };

	ck_assert_int_eq(pwrite(ctx.logger->child.store, &record.inputs, sizeof(record.inputs),
				(off_t)store_record_offset(stream(fd)->number)),
			 sizeof(record.inputs));
}

static uint64_t end_of(int fd)
{
	const struct store_record *record = log_stream_record(stream(fd));

	return record->inputs[record->input].taken;
}

/* The logger takes output, without a report. */
static void takes(int fd, const char *text)
{
	uint64_t at = end_of(fd), slot = store_slot_offset(LOGGER_STREAMS, stream(fd)->number);

	for (; *text; text++, at++)
		ck_assert_int_eq(
			pwrite(ctx.logger->child.store, text, 1, (off_t)(slot + at % STORE_RING)),
			1);
	set_end(fd, at);
}

static void reports(int fd)
{
	fake_logger_sends(LOGGER_WATCH, stream(fd)->number, 0);
}

static void prints(int fd, const char *text)
{
	takes(fd, text);
	reports(fd);
}

START_TEST(line_of_either_output_matches_once)
{
	begin_capture(apart);
	begin_run();
	prints(1, "hello\n");
	ck_assert_uint_eq(matches, 0);
	prints(1 + _i, "now ready\n");
	ck_assert_uint_eq(matches, 1);
	prints(1, "now ready\n");
	prints(2, "now ready\n");
	ck_assert_uint_eq(matches, 1);
}
END_TEST

START_TEST(lines_of_both_outputs_with_one_destination_match)
{
	begin_capture(together);
	ck_assert_ptr_null(capture_stream(capture, LOGGER_ERROR));
	begin_run();
	prints(2, "hello\nnow ready\n");
	ck_assert_uint_eq(matches, 1);
}
END_TEST

START_TEST(line_after_the_end_of_the_watch_does_not_match)
{
	begin_capture(apart);
	begin_run();
	ck_assert_uint_eq(watched(1), 1);
	capture_watch(capture, NULL, NULL);
	ck_assert_uint_eq(watched(1), 0);
	ck_assert_uint_eq(watched(2), 0);
	prints(1, "now ready\n");
	ck_assert_uint_eq(matches, 0);
}
END_TEST

START_TEST(line_before_the_run_does_not_match)
{
	begin_capture(apart);
	takes(1, "now ready\nnow ");
	begin_run();
	prints(1, "ready\nhello\n");
	ck_assert_uint_eq(matches, 0);
	prints(1, "now ready\n");
	ck_assert_uint_eq(matches, 1);
}
END_TEST

/* Until its program is known to run, a process is not ready; its lines stay. */
START_TEST(line_that_comes_early_matches_later)
{
	begin_capture(apart);
	ck_assert_int_eq(capture_mark(capture), 0);
	prints(1, "now ready\n");
	ck_assert_uint_eq(matches, 0);
	ck_assert_uint_eq(watched(1), 1);
	capture_watch(capture, on_match, &matches);
	turns();
	while (fake_logger_hears(LOGGER_WATCH)->message.stream != stream(1)->number)
		;
	reports(1);
	ck_assert_uint_eq(matches, 1);
}
END_TEST

START_TEST(line_comes_in_parts)
{
	begin_capture(apart);
	begin_run();
	prints(1, "hello\nnow");
	ck_assert_uint_eq(watched(1), 1 + 9);
	prints(2, "not");
	prints(1, " ready");
	ck_assert_uint_eq(matches, 0);
	prints(1, "\n");
	ck_assert_uint_eq(matches, 1);
}
END_TEST

START_TEST(line_goes_on_at_the_begin_of_the_ring)
{
	begin_capture(apart);
	set_end(1, 3 * STORE_RING - 4 - (uint64_t)_i);
	begin_run();
	prints(1, "now ready\n");
	ck_assert_uint_eq(matches, 1);
}
END_TEST

START_TEST(long_line_is_compared_in_pieces)
{
	char text[CAPTURE_LINE_MAX + 1];

	begin_capture(apart);
	begin_run();
	memset(text, 'x', sizeof(text) - 1);
	text[CAPTURE_LINE_MAX - _i] = '\0';
	prints(1, text);
	prints(1, "now ready\n");
	ck_assert_uint_eq(matches, _i == 0);
}
END_TEST

START_TEST(empty_line_is_a_line)
{
	begin_capture("[a]\ncommand = x\nready = log:^$\n");
	begin_run();
	prints(1, "hello\n");
	ck_assert_uint_eq(matches, 0);
	prints(1, "\n");
	ck_assert_uint_eq(matches, 1);
}
END_TEST

/* Other events have their turn; the logger reports again what was not seen. */
START_TEST(much_output_is_compared_in_several_turns)
{
	static char text[512 * 1024];
	unsigned n = 0;

	begin_capture(apart);
	begin_run();
	memset(text, 'x', sizeof(text) - 1);
	for (size_t i = 0; i < sizeof(text) - 1; i += 100)
		text[i] = '\n';
	takes(1, text);
	takes(1, "\nnow ready\n");
	while (matches == 0) {
		uint64_t before = watched(1);

		reports(1);
		ck_assert(matches > 0 || watched(1) > before);
		ck_assert_uint_lt(n++, 100);
	}
	ck_assert_uint_gt(n, 3);
}
END_TEST

START_TEST(next_logger_goes_on_where_the_last_one_was)
{
	begin_capture(apart);
	begin_run();
	prints(1, "hello\nnow ");
	fake_logger_ends();
	pass(SEC);
	ck_assert_uint_eq(watched(1), 1 + 10);
	fake_logger_is_ready();
	ck_assert_ptr_nonnull(fake_logger_hears(LOGGER_ADD));
	prints(1, "ready\n");
	ck_assert_uint_eq(matches, 1);
}
END_TEST

START_TEST(discarded_lines_do_not_match)
{
	begin_capture(apart);
	begin_run();
	prints(1, "hello\nlong");
	set_end(1, 6);
	reports(1);
	ck_assert_uint_eq(watched(1), 1 + 6);
	prints(1, "now ready\n");
	ck_assert_uint_eq(matches, 1);
}
END_TEST

/* The streams are those of both configurations. */
START_TEST(end_of_another_capture_does_not_end_the_watch)
{
	struct capture *other;

	begin_capture(apart);
	begin_run();
	ck_assert_int_eq(capture_new(&other, &ctx, config->nodes[1]), 0);
	capture_free(other);
	prints(1, "now ready\n");
	ck_assert_uint_eq(matches, 1);
}
END_TEST

START_TEST(output_without_a_logger_cannot_be_watched)
{
	ck_assert_int_eq(capture_mark(NULL), -ENOTSUP);
	load_capture(apart);
	ck_assert_int_eq(capture_mark(capture), -ENOTSUP);
	capture_watch(capture, NULL, NULL);
	capture = capture_free(capture);
	config_unref(config);
	begin_capture(apart);
	ck_assert_int_eq(capture_mark(capture), 0);
	ctx.logger->child.n_failed = UINT8_MAX;
	ck_assert_int_eq(capture_mark(capture), -ENOTSUP);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("daemon-log-watch");
	TCase *tc = tcase_create("log-watch");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, line_of_either_output_matches_once, 0, 2);
	tcase_add_test(tc, lines_of_both_outputs_with_one_destination_match);
	tcase_add_test(tc, line_after_the_end_of_the_watch_does_not_match);
	tcase_add_test(tc, line_before_the_run_does_not_match);
	tcase_add_test(tc, line_that_comes_early_matches_later);
	tcase_add_test(tc, line_comes_in_parts);
	tcase_add_loop_test(tc, line_goes_on_at_the_begin_of_the_ring, 0, 8);
	tcase_add_loop_test(tc, long_line_is_compared_in_pieces, 0, 2);
	tcase_add_test(tc, empty_line_is_a_line);
	tcase_add_test(tc, much_output_is_compared_in_several_turns);
	tcase_add_test(tc, next_logger_goes_on_where_the_last_one_was);
	tcase_add_test(tc, discarded_lines_do_not_match);
	tcase_add_test(tc, end_of_another_capture_does_not_end_the_watch);
	tcase_add_test(tc, output_without_a_logger_cannot_be_watched);
	suite_add_tcase(suite, tc);
	return suite;
}
