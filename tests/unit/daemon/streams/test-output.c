#include "tests/unit/fixtures/main.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/streams/output.h"

static sd_event *event;
static struct output_pipe *output;
static char seen[32768]; /* the lines, with a | after each */
static size_t used;

static void on_line(void *arg, const char *line, size_t length)
{
	ck_assert_ptr_eq(arg, seen);
	ck_assert_uint_le(length, OUTPUT_LINE_MAX);
	ck_assert_ptr_null(memchr(line, '\n', length));
	memcpy(seen + used, line, length);
	used += length;
	seen[used++] = '|';
	seen[used] = '\0';
}

static void setup(void)
{
	used = 0;
	*seen = '\0';
	ck_assert_int_ge(sd_event_new(&event), 0);
	ck_assert_int_eq(output_new(&output, event, on_line, seen), 0);
}

static void teardown(void)
{
	output = output_free(output);
	event = sd_event_unref(event);
}

static void writes(const char *text)
{
	ck_assert_int_eq(write(output_fd(output), text, strlen(text)), (ssize_t)strlen(text));
}

static void run(void)
{
	int n;

	do {
		n = sd_event_run(event, 0);
		ck_assert_int_ge(n, 0);
	} while (n > 0);
}

START_TEST(lines_come_as_they_end)
{
	writes("one\ntwo\n\nthr");
	run();
	ck_assert_str_eq(seen, "one|two||");
	writes("ee");
	run();
	ck_assert_str_eq(seen, "one|two||");
	writes("\nfour\n");
	run();
	ck_assert_str_eq(seen, "one|two||three|four|");
}
END_TEST

START_TEST(the_end_loses_nothing)
{
	writes("one\ntwo");
	teardown();
	ck_assert_str_eq(seen, "one|two|");
}
END_TEST

/* Somebody who was left behind may still have the pipe, and is not waited for. */
START_TEST(the_end_waits_for_nobody)
{
	int other = dup(output_fd(output));

	writes("one\n");
	teardown();
	ck_assert_str_eq(seen, "one|");
	(void)close(other);
}
END_TEST

START_TEST(a_long_line_comes_in_pieces)
{
	char line[2 * OUTPUT_LINE_MAX + 10];

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 2] = '\n';
	line[sizeof(line) - 1] = '\0';
	writes(line);
	run();
	ck_assert_uint_eq(used, sizeof(line) - 2 + 3);
	ck_assert(seen[OUTPUT_LINE_MAX] == '|' && seen[2 * OUTPUT_LINE_MAX + 1] == '|');
	ck_assert(seen[used - 1] == '|' && seen[used - 2] == 'x');
}
END_TEST

/* However much there is, others have their turn. */
START_TEST(a_turn_takes_a_part)
{
	for (int i = 0; i < 30000; i++)
		writes("\n");
	ck_assert_int_gt(sd_event_run(event, 0), 0);
	ck_assert_uint_gt(used, 0);
	ck_assert_uint_lt(used, 30000);
	run();
	ck_assert_uint_eq(used, 30000);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-output");
	TCase *tc = tcase_create("daemon-output");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, lines_come_as_they_end);
	tcase_add_test(tc, the_end_loses_nothing);
	tcase_add_test(tc, the_end_waits_for_nobody);
	tcase_add_test(tc, a_long_line_comes_in_pieces);
	tcase_add_test(tc, a_turn_takes_a_part);
	suite_add_tcase(s, tc);
	return s;
}
