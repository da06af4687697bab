#include <fcntl.h>
#include <poll.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "tests/unit/logger/play.h"

START_TEST(lines_are_written_to_their_file)
{
	struct logger_rules rules = play_file();

	play_add(1, &rules, "a", "log");
	play_write(1, "one\n");
	play_write(1, "two\nthree\n");
	play_flush(1);
	play_expect("log", "one\ntwo\nthree\n");
	ck_assert_uint_eq(play_counts(1).came_bytes, 14);
	ck_assert_uint_eq(play_counts(1).written_bytes, 14);
	ck_assert_uint_eq(play_counts(1).written_lines, 3);
}
END_TEST

START_TEST(a_part_line_waits_for_its_end)
{
	struct logger_rules rules = play_file();

	play_add(1, &rules, "a", "log");
	play_write(1, "one\ntw");
	play_add(2, &rules, "b", "log");
	play_write(2, "other\n");
	play_flush(2);
	play_write(1, "o\n");
	play_flush(1);
	play_remove(1);
	play_remove(2);

	size_t size;
	char *text = play_read("log", &size);

	ck_assert_ptr_nonnull(strstr(text, "two\n"));
	ck_assert_uint_eq(size, strlen("one\ntwo\nother\n"));
	free(text);
}
END_TEST

START_TEST(a_flush_ends_a_line)
{
	struct logger_rules rules = play_file();

	play_add(1, &rules, "a", "log");
	play_write(1, "no end");
	play_flush(1);
	play_write(1, "new\n");
	play_flush(1);
	play_expect("log", "no end\nnew\n");
}
END_TEST

START_TEST(a_run_is_recognised_in_the_middle_of_a_line)
{
	struct logger_rules rules = play_file();

	rules.format = LOGGER_JSON;
	play_add(1, &rules, "a", "log");
	play_write(1, "the be");
	play_run(1, 42, 3);
	play_write(1, "ginning\nnew\n");
	play_flush(1);

	size_t size;
	char *text = play_read("log", &size);
	const char *first = strstr(text, "\"message\":\"the beginning\"}\n");

	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_nonnull(strstr(first, "\"message\":\"new\"}\n"));
	free(text);
}
END_TEST

static void expect_match(const char *path, const char *pattern)
{
	size_t size;
	char *text = play_read(path, &size);
	regex_t regex;

	ck_assert_int_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	ck_assert_msg(regexec(&regex, text, 0, NULL, 0) == 0, "'%s' does not match %s", text,
		      pattern);
	regfree(&regex);
	free(text);
}

#define DAY  "20[0-9][0-9]-[01][0-9]-[0-3][0-9]"
#define TIME "[0-2][0-9]:[0-5][0-9]:[0-6][0-9]"

static const struct {
	struct logger_rules rules;
	const char *pattern;
} formats[] = {
	{ { .stamp = LOGGER_STAMP_ISO }, "^" DAY "T" TIME "Z hello\n$" },
	{ { .stamp = LOGGER_STAMP_ISO_USEC }, "^" DAY "T" TIME "\\.[0-9]{6}Z hello\n$" },
	{ { .stamp = LOGGER_STAMP_UNIX }, "^[0-9]{10}\\.[0-9]{6} hello\n$" },
	{ { .stamp = LOGGER_STAMP_ISO, .flags = LOGGER_LOCAL_TIME },
	  "^" DAY "T" TIME "[+-][0-9]{2}:[0-9]{2} hello\n$" },
	{ { .format = LOGGER_PREFIX, .name_width = 9 }, "^web/äpp   \\| hello\n$" },
	{ { .format = LOGGER_PREFIX, .stamp = LOGGER_STAMP_ISO },
	  "^" DAY "T" TIME "Z web/äpp \\| hello\n$" },
	{ { .format = LOGGER_JSON },
	  "^\\{\"time\":\"" DAY "T" TIME "\\.[0-9]{6}Z\",\"node\":\"web/äpp\","
	  "\"stream\":\"stdout\",\"message\":\"hello\"\\}\n$" },
	{ { .format = LOGGER_JSON, .stamp = LOGGER_STAMP_UNIX, .kind = LOGGER_ERROR },
	  "^\\{\"time\":[0-9]{10}\\.[0-9]{6},.*\"stream\":\"stderr\"" },
};

START_TEST(a_line_has_its_time_and_its_name)
{
	struct logger_rules rules = formats[_i].rules;

	rules.to = LOGGER_TO_FILE;
	rules.mode = 0600;
	play_add(0, &rules, "web/äpp", "log");
	play_write(0, "hello\n");
	play_flush(0);
	expect_match("log", formats[_i].pattern);
}
END_TEST

START_TEST(json_keeps_bytes_that_are_no_text)
{
	struct logger_rules rules = play_file();

	rules.format = LOGGER_JSON;
	play_add(0, &rules, "a", "log");
	play_write_bytes(0, "q\"\\\t\x01\0\xff\xc3\xa4\n", 10);
	play_flush(0);
	expect_match("log",
		     "\"message\":\"q\\\\\"\\\\\\\\\\\\t\\\\u0001\\\\u0000\xef\xbf\xbd\xc3\xa4\","
		     "\"message_base64\":\"cSJcCQEA/8Ok\"\\}");
}
END_TEST

START_TEST(plain_lines_keep_every_byte)
{
	struct logger_rules rules = play_file();
	unsigned char bytes[256];
	size_t size;
	char *text;

	for (int i = 0; i < 256; i++)
		bytes[i] = (unsigned char)(255 - i);
	bytes[255] = '\n';
	play_add(0, &rules, "a", "log");
	play_write_bytes(0, bytes, sizeof(bytes));
	play_flush(0);
	text = play_read("log", &size);
	ck_assert_uint_eq(size, sizeof(bytes));
	ck_assert_mem_eq(text, bytes, sizeof(bytes));
	free(text);
}
END_TEST

/* The sizes around the limit, in each format. */
START_TEST(a_line_that_is_too_long_comes_in_marked_parts)
{
	const size_t limit = 1024 * 1024,
		     lengths[] = { limit - 1, limit, limit + 1, 3 * limit + 5 };
	struct logger_rules rules = play_file();
	size_t length = lengths[_i], size, payload = 0, parts = 0;
	char *line = malloc(length + 1), *text, *at, *newline;

	memset(line, 'x', length);
	line[length] = '\n';
	play_add(0, &rules, "a", "log");
	play_write_bytes(0, line, length + 1);
	play_write(0, "next\n");
	play_flush(0);
	text = play_read("log", &size);
	for (at = text; (newline = strchr(at, '\n')) && *at == 'x'; at = newline + 1) {
		payload += strspn(at, "x");
		if (at + strspn(at, "x") != newline) {
			ck_assert_int_eq(strncmp(at + strspn(at, "x"), " [part ", 7), 0);
			parts++;
		}
	}
	ck_assert_uint_eq(payload, length);
	ck_assert_uint_eq(parts, (length - 1) / limit);
	ck_assert_str_eq(at, "next\n");
	ck_assert_uint_eq(play_counts(0).written_bytes, length + 6);
	ck_assert_uint_eq(play_counts(0).written_lines, 2);
	free(line);
	free(text);
}
END_TEST

START_TEST(lines_of_many_streams_in_one_file_are_whole)
{
	struct logger_rules rules = play_file();
	size_t size;
	char *text;

	rules.format = LOGGER_PREFIX;
	rules.size = 0;
	for (uint32_t i = 0; i < 8; i++)
		play_add(i, &rules, (char[]){ (char)('a' + i), '\0' }, "log");
	for (int n = 0; n < 2000; n++)
		for (uint32_t i = 0; i < 8; i++)
			play_write(i, "a line of some length\n");
	play_flush(LOGGER_ALL);
	text = play_read("log", &size);
	ck_assert_uint_eq(size, 8 * 2000 * strlen("a | a line of some length\n"));
	for (char *at = text; *at; at += strlen("a | a line of some length\n"))
		ck_assert_int_eq(strncmp(at + 1, " | a line of some length\n", 25), 0);
	free(text);
}
END_TEST

START_TEST(output_goes_to_the_standard_output_of_the_logger)
{
	struct logger_rules rules = { .to = LOGGER_TO_OUTPUT, .format = LOGGER_PREFIX };
	char buf[64] = "";
	int out = play_start_with_output();

	play_add(0, &rules, "a", "");
	play_write(0, "hello\n");
	play_flush(0);
	ck_assert_int_eq(read(out, buf, sizeof(buf)), 10);
	ck_assert_str_eq(buf, "a | hello\n");
	(void)close(out);
}
END_TEST

START_TEST(a_removed_stream_can_be_added_again)
{
	struct logger_rules rules = play_file();

	for (int i = 0; i < 3; i++) {
		play_add(1, &rules, "a", "log");
		play_write(1, "one\n");
		play_flush(1);
		ck_assert_uint_eq(play_counts(1).written_lines, 1);
		play_remove(1);
		ck_assert_uint_eq(play_counts(1).written_lines, 0);
	}
	play_expect("log", "one\none\none\n");
}
END_TEST

START_TEST(a_change_concerns_only_later_lines)
{
	struct logger_message m = { .type = LOGGER_CHANGE, .stream = 1 };
	char path[128];

	m.rules = play_file();
	play_add(1, &m.rules, "a", "log");
	play_write(1, "one\n");
	play_flush(1);
	m.rules.format = LOGGER_PREFIX;
	(void)snprintf(path, sizeof(path), "%s/new", directory);
	ck_assert_int_eq(logger_send(play.control, &m, "b", path, -1), 0);
	play_write(1, "two\n");
	play_flush(1);
	play_expect("log", "one\n");
	play_expect("new", "b | two\n");
}
END_TEST

START_TEST(the_logger_has_no_right_that_it_does_not_need)
{
	struct logger_rules rules = play_file();
	char command[256];

	play_add(1, &rules, "a", "log");
	play_write(1, "hello\n");
	play_flush(1);
	(void)snprintf(
		command, sizeof(command),
		"for pid in %d $(cat /proc/%d/task/%d/children); do"
		"	grep -qx 'NoNewPrivs:	1' /proc/$pid/status &&"
		"	grep -qx 'Seccomp:	%d' /proc/$pid/status &&"
		"	grep -qxE 'CapEff:	000000000000000[03]' /proc/$pid/status || exit 1;"
		"done",
		(int)play.pid, (int)play.pid, (int)play.pid, HAS_FILTER ? 2 : 0);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

START_TEST(the_logger_stops_when_all_is_written)
{
	struct logger_rules rules = play_file();
	struct logger_message m = { .type = LOGGER_STOP, .cookie = 7 };
	int status;

	play_add(1, &rules, "a", "log");
	play_write(1, "the last");
	play_send(&m);
	play_wait(LOGGER_FLUSHED);
	ck_assert_uint_eq(play.packet.message.cookie, 7);
	play_expect("log", "the last\n");
	ck_assert_int_eq(waitpid(play.pid, &status, 0), play.pid);
	ck_assert_int_eq(status, 0);
	play.control = fd_close(play.control);
}
END_TEST

START_TEST(the_logger_drains_the_pipes_after_the_end_of_the_daemon)
{
	struct logger_rules rules = play_file();
	int status;

	play_add(1, &rules, "a", "log");
	play_write(1, "the last");
	play_close(1);
	play.control = fd_close(play.control);
	ck_assert_int_eq(waitpid(play.pid, &status, 0), play.pid);
	ck_assert_int_eq(status, 0);
	play_expect("log", "the last\n");
}
END_TEST

static bool log_has(const char *text)
{
	size_t size;
	char *got = play_read("log", &size);
	bool same = size == strlen(text) && memcmp(got, text, size) == 0;

	free(got);
	return same;
}

START_TEST(the_logger_goes_on_for_services_that_outlive_the_daemon)
{
	struct logger_rules rules = play_file();
	int status;

	play_add(1, &rules, "a", "log");
	play_add(2, &rules, "b", "other");
	play_write(1, "before\n");
	play_flush(1);
	play.control = fd_close(play.control);
	play_close(2);
	for (int i = 0; i < 3; i++) {
		static const char *const logs[] = { "before\nafter\n", "before\nafter\nafter\n",
						    "before\nafter\nafter\nafter\n" };

		play_write(1, "after\n");
		for (int n = 0; !log_has(logs[i]) && n < 30000; n++)
			(void)poll(NULL, 0, 1);
		ck_assert(log_has(logs[i]));
		ck_assert_int_eq(waitpid(play.pid, &status, WNOHANG), 0);
	}
	play_write(1, "the last");
	play_close(1);
	ck_assert_int_eq(waitpid(play.pid, &status, 0), play.pid);
	ck_assert_int_eq(status, 0);
	ck_assert(log_has("before\nafter\nafter\nafter\nthe last\n"));
}
END_TEST

/* The helper hangs, the pipe is full, and no process can write to it. */
START_TEST(hung_helper_does_not_keep_logger_after_daemon)
{
	struct logger_rules rules = play_file();
	char text[4096];
	int status;

	memset(text, '\n', sizeof(text));
	rules.flags = LOGGER_BLOCK;
	ck_assert_int_eq(mkdir("log", 0755), 0);
	play_add(1, &rules, "a", "log");
	play_write(1, "x\n");
	play_wait(LOGGER_TROUBLE);
	ck_assert_int_eq(fcntl(play.streams[1].out, F_SETFL, O_NONBLOCK), 0);
	do
		while (write(play.streams[1].out, text, sizeof(text)) > 0)
			;
	while (poll(&(struct pollfd){ .fd = play.streams[1].out, .events = POLLOUT }, 1, 300) > 0);
	play_close(1);
	play.control = fd_close(play.control);
	ck_assert_int_eq(waitpid(play.pid, &status, 0), play.pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* How often the logger has waited for an event. */
static long count_waits(void)
{
	char path[64], line[256];
	long n = -1;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)play.pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		(void)sscanf(line, "voluntary_ctxt_switches: %ld", &n);
	(void)fclose(f);
	return n;
}

static void expect_member(const char *path, const char *text)
{
	size_t size;
	char *all = play_read(path, &size);

	ck_assert_msg(strstr(all, text), "%s", all);
	free(all);
}

/* The daemon announces rules in the store, and sends them later: the process may write in between. */
START_TEST(lines_wait_for_their_rules_and_have_the_process_of_their_run)
{
	struct logger_message m = { .type = LOGGER_CHANGE, .stream = 1, .cookie = 1 };
	struct logger_rules other = play_file();
	char path[128];

	m.rules = play_file();
	play_add(1, &m.rules, "a", "log");
	play_add(2, &other, "other", "other");
	play_run(1, 41, 1);
	play_write(1, "one\n");
	play_flush(1);
	ck_assert_int_eq(store_set_rules(play.store, 1, 1), 0);
	play_run(1, 0, 2);
	play_write(1, "two\n");
	while (play_counts(1).came_bytes < 8)
		play_flush(2);
	play_run(1, 42, 2);
	play_write(2, "the logger has had its turn\n");
	play_flush(2);
	play_expect("log", "one\n");
	m.rules.format = LOGGER_JSON;
	m.rules.stamp = LOGGER_STAMP_NONE;
	(void)snprintf(path, sizeof(path), "%s/new", directory);
	ck_assert_int_eq(logger_send(play.control, &m, "a", path, -1), 0);
	play_flush(1);
	play_expect("log", "one\n");
	expect_member("new", "\"pid\":42,\"generation\":2,");
}
END_TEST

START_TEST(a_loud_writer_of_lines_does_not_wake_the_logger_with_each)
{
	enum { LINES = 300000, LARGE = 1024 * 1024 };
	struct logger_rules rules = play_file();
	char line[100];
	uint64_t begin;
	long limit;

	rules.flags |= LOGGER_BLOCK;
	play_add(1, &rules, "a", "log");
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	begin = clock_now_usec();
	for (int i = 0; i < LINES; i++)
		ck_assert_int_eq(write(play.streams[1].out, line, sizeof(line)), sizeof(line));
	/* A tick each 250 us, and what comes of it. */
	limit = (long)(clock_now_usec() - begin) / 100;
	/* A user with many pipes gets no large one. */
	if (fcntl(play.streams[1].in, F_GETPIPE_SZ) >= LARGE)
		ck_assert_int_lt(count_waits(), limit);
	play_flush(1);
	ck_assert_uint_eq(play_counts(1).written_lines, LINES);
}
END_TEST

void add_line_tests(Suite *suite)
{
	TCase *t = tcase_create("lines");

	tcase_add_checked_fixture(t, play_begin, play_end);
	tcase_add_test(t, lines_are_written_to_their_file);
	tcase_add_test(t, a_part_line_waits_for_its_end);
	tcase_add_test(t, a_flush_ends_a_line);
	tcase_add_test(t, a_run_is_recognised_in_the_middle_of_a_line);
	tcase_add_loop_test(t, a_line_has_its_time_and_its_name, 0, ARRAY_SIZE(formats));
	tcase_add_test(t, json_keeps_bytes_that_are_no_text);
	tcase_add_test(t, plain_lines_keep_every_byte);
	tcase_add_loop_test(t, a_line_that_is_too_long_comes_in_marked_parts, 0, 4);
	tcase_add_test(t, lines_of_many_streams_in_one_file_are_whole);
	tcase_add_test(t, output_goes_to_the_standard_output_of_the_logger);
	tcase_add_test(t, a_removed_stream_can_be_added_again);
	tcase_add_test(t, a_change_concerns_only_later_lines);
	tcase_add_test(t, lines_wait_for_their_rules_and_have_the_process_of_their_run);
	tcase_add_test(t, a_loud_writer_of_lines_does_not_wake_the_logger_with_each);
	tcase_add_test(t, the_logger_has_no_right_that_it_does_not_need);
	tcase_add_test(t, the_logger_stops_when_all_is_written);
	tcase_add_test(t, the_logger_drains_the_pipes_after_the_end_of_the_daemon);
	tcase_add_test(t, the_logger_goes_on_for_services_that_outlive_the_daemon);
	tcase_add_test(t, hung_helper_does_not_keep_logger_after_daemon);
	suite_add_tcase(suite, t);
}
