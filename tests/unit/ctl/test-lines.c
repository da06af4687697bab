#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/macro.h"
#include "ctl/logs/older.h"
#include "ctl/logs/print.h"
#include "proto/log-reader.h"
#include "tests/unit/ctl/test-ctl.h"

/* The parts of swansongctl logs: lines, the frames of the logger, and the text of files. */

static struct log_source one = { .node = (char *)"one", .first = &one };
static struct log_source two = { .node = (char *)"two", .first = &two };
static struct log_lines lines;

static void add_line(struct log_source *source, uint64_t time_usec, const char *text)
{
	const struct log_line line = {
		.source = source, .time_usec = time_usec, .text = text, .length = strlen(text)
	};

	ck_assert_int_eq(log_lines_add(&lines, &line), 0);
}

/* The texts, each followed by a blank. */
static const char *texts(void)
{
	static char all[4096];
	char *at = all;

	for (size_t i = 0; i < lines.n; i++)
		at += sprintf(at, "%.*s ", (int)lines.lines[i]->length, lines.lines[i]->text);
	*at = '\0';
	return all;
}

START_TEST(lines_are_merged_by_time)
{
	add_line(&one, 10, "a");
	add_line(&one, 10, "b");
	add_line(&one, 30, "e");
	add_line(&two, 10, "c");
	add_line(&two, 20, "d");
	add_line(&two, 40, "f");
	log_lines_merge(&lines);
	ck_assert_str_eq(texts(), "a b c d e f ");
	log_lines_done(&lines);
}
END_TEST

START_TEST(lines_of_one_stream_stay_in_order)
{
	/* The clock was set back; and one has no time. */
	add_line(&one, 50, "a");
	add_line(&one, 20, "b");
	add_line(&two, 0, "c");
	add_line(&two, 60, "d");
	add_line(&two, 0, "e");
	log_lines_merge(&lines);
	ck_assert_str_eq(texts(), "a b c d e ");
	log_lines_done(&lines);
}
END_TEST

START_TEST(no_lines_are_merged_to_none)
{
	log_lines_merge(&lines);
	log_lines_limit(&lines, 1);
	ck_assert_uint_eq(lines.n, 0);
	log_lines_done(&lines);
}
END_TEST

START_TEST(a_limit_is_one_of_each_node)
{
	struct log_source errors = { .node = (char *)"one", .kind = LOGGER_ERROR, .first = &one };

	add_line(&one, 1, "a");
	add_line(&errors, 2, "b");
	add_line(&one, 3, "c");
	add_line(&two, 4, "d");
	log_lines_merge(&lines);
	log_lines_limit(&lines, 2);
	ck_assert_str_eq(texts(), "b c d ");
	log_lines_limit(&lines, 2);
	ck_assert_str_eq(texts(), "b c d ");
	log_lines_limit(&lines, 1);
	ck_assert_str_eq(texts(), "c d ");
	log_lines_limit(&lines, 0);
	ck_assert_uint_eq(lines.n, 0);
	log_lines_done(&lines);
}
END_TEST

/* --- a terminal --- */

/* The last line that is printed to a terminal. */
static const char *printed(const char *text, size_t length)
{
	static char buf[200];
	struct ctl ctl = { .out = { .file = fmemopen(buf, sizeof(buf), "w"), .tty = true } };
	const struct log_printer printer = { .ctl = &ctl };
	const struct log_line line = { .source = &one, .text = text, .length = length };

	ck_assert_int_eq(log_print(&printer, &line), CTL_DONE);
	ck_assert_int_eq(fputc('\0', ctl.out.file), '\0');
	ck_assert_int_eq(fclose(ctl.out.file), 0);
	return buf;
}

START_TEST(a_terminal_gets_colours_and_no_other_sequence)
{
	static const struct {
		const char *text, *printed;
	} cases[] = {
		{ "a\tb", "a\tb\n" },
		{ "\033[1;31mred", "\033[1;31mred\033[0m\n" },
		{ "\033[38:5:9mred\033[m", "\033[38:5:9mred\033[m\033[0m\n" },
		{ "\033[m", "\033[m\033[0m\n" },
		{ "\033[2J", "^[[2J\n" },
		{ "\033m", "^[m\n" },
		{ "\033[1", "^[[1\n" },
		{ "\033[", "^[[\n" },
		{ "\r\177\302\233\377", "^M^?<U+009B><FF>\n" },
		{ "\303\244\346\227\245", "\303\244\346\227\245\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(printed(cases[i].text, strlen(cases[i].text)), cases[i].printed);
}
END_TEST

/* The bytes behind a line are those of another one. */
START_TEST(a_sequence_or_a_character_ends_with_its_line)
{
	ck_assert_str_eq(printed("a\033[1mb", 4), "a^[[1\n");
	ck_assert_str_eq(printed("a\303\244", 2), "a<C3>\n");
}
END_TEST

/* --- frames --- */

static struct log_reader reader;
static int end;

static void open_pipe(void)
{
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	log_reader_open(&reader, fds[0]);
	end = fds[1];
}

static void put_frame(enum logger_frame_type type, uint64_t position, const char *text)
{
	struct logger_frame frame = {
		.size = (uint32_t)(sizeof(frame) + 3 + strlen(text)),
		.type = (uint16_t)type,
		.name_length = 3,
		.stream = 5,
		.time_usec = 1000 + position,
		.position = position,
		.next = position + strlen(text) + 1,
	};

	ck_assert_int_eq(write(end, &frame, sizeof(frame)), sizeof(frame));
	ck_assert_int_eq(write(end, "one", 3), 3);
	ck_assert_int_eq(write(end, text, strlen(text)), (int)strlen(text));
}

static void expect_text(const char *text)
{
	struct log_event event;

	ck_assert_int_eq(log_reader_next(&reader, UINT64_MAX, &event), 1);
	ck_assert_int_eq(event.type, LOGGER_FRAME_LINE);
	ck_assert_str_eq(event.line.source->node, "one");
	ck_assert_uint_eq(event.line.length, strlen(text));
	ck_assert_int_eq(memcmp(event.line.text, text, strlen(text)), 0);
}

static void expect_lost(uint64_t bytes)
{
	struct log_event event;

	ck_assert_int_eq(log_reader_next(&reader, UINT64_MAX, &event), 1);
	ck_assert_int_eq(event.type, LOGGER_FRAME_LOST);
	ck_assert_uint_eq(event.lost, bytes);
}

START_TEST(another_logger_goes_on_where_the_last_one_was)
{
	struct log_event event;

	log_reader_init(&reader);
	open_pipe();
	put_frame(LOGGER_FRAME_LINE, 10, "a");
	put_frame(LOGGER_FRAME_LINE, 12, "b");
	expect_text("a");
	expect_text("b");
	ck_assert_int_eq(log_reader_next(&reader, 0, &event), -EAGAIN);
	/* Killed in the middle of a frame. */
	ck_assert_int_eq(write(end, "xxxx", 4), 4);
	(void)close(end);
	ck_assert_int_eq(log_reader_next(&reader, UINT64_MAX, &event), 0);
	open_pipe();
	put_frame(LOGGER_FRAME_LINE, 10, "a");
	put_frame(LOGGER_FRAME_LINE, 12, "b");
	put_frame(LOGGER_FRAME_LINE, 14, "c");
	put_frame(LOGGER_FRAME_LINE, 20, "d");
	put_frame(LOGGER_FRAME_LINE, 22, "e");
	expect_text("c");
	expect_lost(4);
	expect_text("d");
	expect_text("e");
	(void)close(end);
	log_reader_done(&reader);
}
END_TEST

START_TEST(a_stream_that_begins_anew_is_read_from_its_beginning)
{
	struct logger_frame frame = { .size = sizeof(frame) + 4, .type = LOGGER_FRAME_LINE };

	log_reader_init(&reader);
	open_pipe();
	put_frame(LOGGER_FRAME_LINE, 100, "a");
	expect_text("a");
	(void)close(end);
	open_pipe();
	/* Of another daemon: a lower position, and a later time. */
	frame.name_length = 3;
	frame.next = 2;
	frame.time_usec = 999999;
	ck_assert_int_eq(write(end, &frame, sizeof(frame)), sizeof(frame));
	ck_assert_int_eq(write(end, "onex", 4), 4);
	expect_text("x");
	(void)close(end);
	log_reader_done(&reader);
}
END_TEST

START_TEST(malformed_frames_are_refused)
{
	static const struct logger_frame frames[] = {
		{ .size = 0 },
		{ .size = UINT32_MAX },
		{ .size = sizeof(struct logger_frame), .name_length = 1 },
		{ .size = sizeof(struct logger_frame) + 65000, .name_length = 65000 },
		{ .size = sizeof(struct logger_frame), .kind = LOGGER_KINDS },
		{ .size = sizeof(struct logger_frame), .stream = LOGGER_STREAMS },
		{ .size = sizeof(struct logger_frame), .type = LOGGER_FRAME_LINE },
		{ .size = sizeof(struct logger_frame), .type = LOGGER_FRAME_SEAM },
	};
	struct log_event event;

	log_reader_init(&reader);
	open_pipe();
	ck_assert_int_eq(write(end, &frames[_i], sizeof(frames[_i])), sizeof(frames[_i]));
	ck_assert_int_eq(log_reader_next(&reader, UINT64_MAX, &event), -EBADMSG);
	(void)close(end);
	log_reader_done(&reader);
}
END_TEST

/* --- text of files --- */

static int read_past(struct log_past *past, const char *text)
{
	char copy[1024];
	int r;

	(void)snprintf(copy, sizeof(copy), "%s", text);
	log_lines_done(&lines);
	one.text = copy;
	one.size = strlen(copy);
	past->source = &one;
	r = log_older_lines(past, &lines);
	one.text = NULL;
	return r;
}

START_TEST(the_last_lines_of_the_text_are_older)
{
	struct log_past past = { .max = 3 };

	ck_assert_int_eq(read_past(&past, "1\n2\n3\n4\n"), 0);
	ck_assert_str_eq(texts(), "2 3 4 ");
	past.max = 100;
	ck_assert_int_eq(read_past(&past, "1\n\n3\nwithout an end"), 0);
	ck_assert_str_eq(texts(), "1  3 without an end ");
	ck_assert_int_eq(read_past(&past, ""), 0);
	ck_assert_str_eq(texts(), "");
	log_lines_done(&lines);
}
END_TEST

START_TEST(no_line_is_there_twice_at_the_seam)
{
	const struct log_line three = { .source = &one, .text = "3", .length = 1 };
	struct log_past past = { .max = 1, .first = &three, .n_written = 2 };

	ck_assert_int_eq(read_past(&past, "1\n2\n3\n4\n"), 0);
	ck_assert_str_eq(texts(), "2 ");
	/* All that there is was remembered. */
	ck_assert_int_eq(read_past(&past, "3\n4\n"), 0);
	ck_assert_str_eq(texts(), "");
	ck_assert_int_eq(read_past(&past, "4\n"), 0);
	ck_assert_str_eq(texts(), "");
	log_lines_done(&lines);
}
END_TEST

START_TEST(a_file_that_others_write_to_is_not_taken)
{
	const struct log_line line = { .source = &one, .text = "x", .length = 1 };
	struct log_past past = { .max = 3, .first = &line, .n_written = 2 };

	ck_assert_int_eq(read_past(&past, "1\n2\n3\n4\n"), -ESTALE);
	ck_assert_uint_eq(lines.n, 0);
	log_lines_done(&lines);
}
END_TEST

START_TEST(a_line_is_found_behind_its_stamp_and_name)
{
	static const struct {
		enum logger_stamp stamp;
		const char *line, *text;
		uint64_t time_usec;
	} cases[] = {
		{ LOGGER_STAMP_NONE, "2026-11-22T22:31:05Z x", "2026-11-22T22:31:05Z x", 0 },
		{ LOGGER_STAMP_ISO, "2026-11-22T22:31:05Z x", "x", 1795386665000000 },
		{ LOGGER_STAMP_ISO, "2026-11-23T00:31:05+02:00 x", "x", 1795386665000000 },
		{ LOGGER_STAMP_ISO_USEC, "2026-11-22T22:31:05.123456Z one  | x", "x",
		  1795386665123456 },
		{ LOGGER_STAMP_UNIX, "1795386665.123456 ", "", 1795386665123456 },
		{ LOGGER_STAMP_UNIX, "no stamp", "no stamp", 0 },
		{ LOGGER_STAMP_ISO, "", "", 0 },
		{ LOGGER_STAMP_NONE, "one | x", "x", 0 },
		{ LOGGER_STAMP_NONE, "one| x", "one| x", 0 },
		{ LOGGER_STAMP_NONE,
		  "{\"time\":\"2026-11-22T22:31:05.123456Z\",\"node\":\"one\",\"pid\":7,"
		  "\"generation\":1,\"stream\":\"stdout\",\"message\":\"x\"}",
		  "x", 1795386665123456 },
		{ LOGGER_STAMP_NONE, "{\"message\":1}", "{\"message\":1}", 0 },
	};
	struct log_past past = { .max = 1, .stamp = cases[_i].stamp };
	char text[256];

	(void)snprintf(text, sizeof(text), "%s\n", cases[_i].line);
	ck_assert_int_eq(read_past(&past, text), 0);
	ck_assert_uint_eq(lines.n, 1);
	ck_assert_uint_eq(lines.lines[0]->length, strlen(cases[_i].text));
	ck_assert_int_eq(memcmp(lines.lines[0]->text, cases[_i].text, lines.lines[0]->length), 0);
	ck_assert_uint_eq(lines.lines[0]->time_usec, cases[_i].time_usec);
	log_lines_done(&lines);
}
END_TEST

TCase *ctl_lines_tests(void)
{
	TCase *tc = tcase_create("lines");

	ctl_fixture(tc);
	tcase_add_test(tc, lines_are_merged_by_time);
	tcase_add_test(tc, lines_of_one_stream_stay_in_order);
	tcase_add_test(tc, no_lines_are_merged_to_none);
	tcase_add_test(tc, a_limit_is_one_of_each_node);
	tcase_add_test(tc, a_terminal_gets_colours_and_no_other_sequence);
	tcase_add_test(tc, a_sequence_or_a_character_ends_with_its_line);
	tcase_add_test(tc, another_logger_goes_on_where_the_last_one_was);
	tcase_add_test(tc, a_stream_that_begins_anew_is_read_from_its_beginning);
	tcase_add_loop_test(tc, malformed_frames_are_refused, 0, 8);
	tcase_add_test(tc, the_last_lines_of_the_text_are_older);
	tcase_add_test(tc, no_line_is_there_twice_at_the_seam);
	tcase_add_test(tc, a_file_that_others_write_to_is_not_taken);
	tcase_add_loop_test(tc, a_line_is_found_behind_its_stamp_and_name, 0, 11);
	return tc;
}
