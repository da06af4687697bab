#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "ctl/session/session.h"
#include "proto/logger-message.h"
#include "tests/unit/ctl/test-ctl.h"

/* swansongctl logs, and the last lines of swansongctl status. */

#define OUTPUT(node, to, captured, more)                                                        \
	"{\"node\":\"" node "\",\"stream\":\"stdout\",\"to\":\"" to "\",\"captured\":" captured \
	",\"timestamp\":\"none\"" more "}"
#define OUTPUTS(list, more) "{\"parameters\":{\"outputs\":[" list "]}" more "}"
#define BOTH		    OUTPUT("a", "file", "true", "") "," OUTPUT("web/b", "file", "true", "")

/* The pipe of a logger that has died, with the frames that the logger had written. */
static int pipe_fds[2];

static int open_logger(void)
{
	ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
	return pipe_fds[0];
}

static void end_logger(void)
{
	(void)close(pipe_fds[1]);
}

static void put_frame(const char *node, enum logger_frame_type type, uint64_t position,
		      const char *text)
{
	struct logger_frame frame = {
		.size = (uint32_t)(sizeof(frame) + strlen(node) + strlen(text)),
		.type = (uint16_t)type,
		.name_length = (uint16_t)strlen(node),
		.stream = *node == 'a' ? 0 : 1,
		.time_usec = 1795386665000000 + position,
		.pid = 7,
		.generation = 2,
		.position = position,
		.next = position + strlen(text) + 1,
	};

	ck_assert_int_eq(write(pipe_fds[1], &frame, sizeof(frame)), sizeof(frame));
	ck_assert_int_eq(write(pipe_fds[1], node, strlen(node)), (int)strlen(node));
	ck_assert_int_eq(write(pipe_fds[1], text, strlen(text)), (int)strlen(text));
}

static int no_lines(void)
{
	int fd = open_logger();

	end_logger();
	return fd;
}

/* a: 1 and 5; web/b: 3. */
static int some_lines(void)
{
	int fd = open_logger();

	put_frame("a", LOGGER_FRAME_LINE, 1, "one");
	put_frame("web/b", LOGGER_FRAME_LINE, 3, "three\033[2J");
	put_frame("a", LOGGER_FRAME_LINE, 5, "five");
	put_frame("", LOGGER_FRAME_NOW, 0, "");
	return fd;
}

START_TEST(lines_of_several_nodes_have_names)
{
	int fd = some_lines();

	end_logger();
	ck_assert_int_eq(RUN("logs a web -n 2", { .text = OUTPUTS(BOTH, ""), .passed = fd }), 0);
	assert_has(asked,
		   "Logs\",\"parameters\":{\"nodes\":[\"a\",\"web\"],\"lines\":2,\"older\":true}}");
	ck_assert_str_eq(out, "a     | one\nweb/b | three\033[2J\na     | five\n");
	ck_assert_str_eq(err, "");
}
END_TEST

START_TEST(json_lines_are_objects)
{
	int fd = some_lines();

	end_logger();
	ck_assert_int_eq(RUN("logs a --json", { .text = OUTPUTS(BOTH, ""), .passed = fd }), 0);
	assert_has(out, "{\"time\":\"2026-11-22T22:31:05.000001Z\",\"node\":\"a\",\"pid\":7,"
			"\"generation\":2,\"stream\":\"stdout\",\"message\":\"one\"}\n");
	assert_has(out, "\"message\":\"three\\u001B[2J\"}\n");
}
END_TEST

/* The lines are of 22:31:05, some microseconds later. */
START_TEST(lines_are_chosen_by_time_level_and_text)
{
	static const struct {
		const char *arguments, *lines;
	} rows[] = {
		{ "--grep th|ve$", "web/b | <4>three\na     | five\n" },
		{ "-g e -n 1", "web/b | <4>three\na     | five\n" },
		{ "--level warning", "web/b | <4>three\n" },
		{ "--level info -g o", "a     | one\n" },
		{ "--level error", "" },
		{ "--since 2026-11-22T22:31:05Z", "a     | one\nweb/b | <4>three\na     | five\n" },
		{ "--since 2026-11-22T22:31:06Z", "" },
		{ "--until 2026-11-22T22:31:05Z", "" },
		{ "-U 2026-11-22T22:31:06Z -g one", "a     | one\n" },
	};
	char line[256];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int fd = open_logger();

		put_frame("a", LOGGER_FRAME_LINE, 1, "one");
		put_frame("web/b", LOGGER_FRAME_LINE, 3, "<4>three");
		put_frame("a", LOGGER_FRAME_LINE, 5, "five");
		put_frame("", LOGGER_FRAME_NOW, 0, "");
		end_logger();
		(void)snprintf(line, sizeof(line), "logs a web %s", rows[i].arguments);
		ck_assert_int_eq(RUN(line, { .text = OUTPUTS(BOTH, ""), .passed = fd }), 0);
		ck_assert_str_eq(out, rows[i].lines);
	}
	ck_assert_int_eq(RUN("logs -g (", OK), CTL_USAGE);
	assert_has(err, "--grep: invalid pattern '(': ");
	ck_assert_int_eq(RUN("logs --since noon", OK), CTL_USAGE);
	assert_has(err, "--since: invalid value 'noon': expected a time, for example ");
	ck_assert_int_eq(RUN("logs --level loud", OK), CTL_USAGE);
	assert_has(err, "--level: invalid value 'loud': expected error, warning, notice, info or debug");
}
END_TEST

START_TEST(a_node_that_is_not_captured_does_not_hide_others)
{
	int fd = some_lines();

	end_logger();
	ck_assert_int_eq(RUN("logs a db",
			     { .text = OUTPUTS(OUTPUT("a", "file", "true",
						      "") "," OUTPUT("db", "inherit", "false", ""),
					       ""),
			       .passed = fd }),
			 0);
	assert_has(out, "one\n");
	assert_has(err, "db: output not captured: log = inherit\n");
	ck_assert_int_eq(RUN("logs db", { .text = OUTPUTS(OUTPUT("db", "null", "false", ""), ""),
					  .passed = no_lines() }),
			 CTL_FAILED);
	assert_has(err, "db: output not captured: log = null\n");
}
END_TEST

START_TEST(without_a_logger_the_files_are_named)
{
	static const char reply[] =
		OUTPUTS(OUTPUT("web", "file", "true", ",\"file\":\"/var/log/web\""), "");

	ck_assert_int_eq(RUN("logs -n 2 web", SAY(reply)), CTL_FAILED);
	assert_has(err, "web: output not captured: see /var/log/web\n");
	ck_assert_int_eq(RUN("logs -f web", SAY(reply)), CTL_FAILED);
}
END_TEST

/* The text of the file of a. */
START_TEST(older_lines_come_before_those_that_are_remembered)
{
	int fd = open_logger();

	put_frame("a", LOGGER_FRAME_LINE, 4, "three");
	put_frame("a", LOGGER_FRAME_OLDER, 0, "one\ntw");
	put_frame("a", LOGGER_FRAME_OLDER, 0, "o\n");
	put_frame("", LOGGER_FRAME_NOW, 0, "");
	end_logger();
	ck_assert_int_eq(RUN("logs a", { .text = OUTPUTS(BOTH, ""), .passed = fd }), 0);
	ck_assert_str_eq(out, "a     | one\na     | two\na     | three\n");
	ck_assert_str_eq(err, "");
}
END_TEST

/* Of the first logger a part of the file has come. */
START_TEST(another_logger_reads_the_file_again)
{
	int fd = open_logger(), next;

	put_frame("a", LOGGER_FRAME_LINE, 4, "three");
	put_frame("a", LOGGER_FRAME_OLDER, 0, "one\n");
	end_logger();
	next = open_logger();
	put_frame("a", LOGGER_FRAME_LINE, 4, "three");
	put_frame("a", LOGGER_FRAME_OLDER, 0, "one\ntwo\n");
	put_frame("", LOGGER_FRAME_NOW, 0, "");
	end_logger();
	ck_assert_int_eq(RUN("logs a", { .text = OUTPUTS(BOTH, ""), .passed = fd },
			     { .text = OUTPUTS(BOTH, ""), .passed = next }),
			 0);
	ck_assert_str_eq(out, "a     | one\na     | two\na     | three\n");
}
END_TEST

START_TEST(following_goes_on_with_the_next_logger)
{
	int fd = some_lines(), next;

	put_frame("a", LOGGER_FRAME_LINE, 10, "ten");
	end_logger();
	next = open_logger();
	put_frame("a", LOGGER_FRAME_LINE, 5, "five");
	put_frame("a", LOGGER_FRAME_LINE, 10, "ten");
	put_frame("a", LOGGER_FRAME_LINE, 14, "eleven");
	put_frame("", LOGGER_FRAME_NOW, 0, "");
	put_frame("a", LOGGER_FRAME_LINE, 30, "twelve");
	end_logger();
	ck_assert_int_eq(RUN("logs -f a",
			     { .text = OUTPUTS(BOTH, ",\"continues\":true"),
			       .passed = fd,
			       .then = THEN_MORE },
			     OK,
			     { .text = OUTPUTS("", ",\"continues\":true"),
			       .passed = next,
			       .then = THEN_CLOSE }),
			 CTL_FAILED);
	assert_has(asked, "\"lines\":10,\"older\":true},\"more\":true}");
	assert_has(asked,
		   "Logs\",\"parameters\":{\"nodes\":[\"a\"],\"older\":false},\"more\":true}");
	ck_assert_str_eq(out, "a     | one\nweb/b | three\033[2J\na     | five\na     | ten\n"
			      "a     | eleven\na     | twelve\n");
	assert_has(err, "a: 9 bytes of output were not read in time\n");
}
END_TEST

START_TEST(reopen_asks_the_daemon_for_each_node)
{
	ck_assert_int_eq(RUN("logs --reopen a b", OK, OK), 0);
	assert_has(asked, "ReopenLogs\",\"parameters\":{\"node\":\"a\"}}\n");
	assert_has(asked, "ReopenLogs\",\"parameters\":{\"node\":\"b\"}}\n");
	ck_assert_int_eq(RUN("logs --reopen", OK), 0);
	assert_has(asked, "ReopenLogs\",\"parameters\":{\"node\":\"\"}}\n");
}
END_TEST

/* A failed service: the lines of its last run, of standard error if there are any. */
START_TEST(status_shows_the_last_lines_of_a_service)
{
	static const char page[] = "{\"parameters\":{\"nodes\":[" NODE(
		"a", "running", "0", ",\"service\":" SERVICE("failed", "")) "]}}";
	int fd = open_logger();

	put_frame("a", LOGGER_FRAME_LINE, 1, "no such file: \033[2J");
	put_frame("", LOGGER_FRAME_NOW, 0, "");
	end_logger();
	ck_assert_int_eq(RUN("status a", SAY(page), SAY(guards),
			     { .text = OUTPUTS(BOTH, ""), .passed = fd }),
			 0);
	/* They are asked for once, and not followed. */
	assert_has(asked,
		   "Logs\",\"parameters\":{\"nodes\":[\"a\"],\"lines\":200,\"older\":true}}\n");
	assert_has(out, "last run:  ");
	assert_has(out, ":05 no such file: \\x1b[2J\n");
	ck_assert_int_eq(RUN("status a", SAY(page), SAY(guards),
			     ERROR("io.swansong.NotPermitted", "{\"reason\":\"x\"}")),
			 0);
	ck_assert_str_eq(err, "");
}
END_TEST

TCase *ctl_logs_tests(void)
{
	TCase *tc = tcase_create("logs");

	ctl_fixture(tc);
	tcase_add_test(tc, lines_of_several_nodes_have_names);
	tcase_add_test(tc, json_lines_are_objects);
	tcase_add_test(tc, lines_are_chosen_by_time_level_and_text);
	tcase_add_test(tc, a_node_that_is_not_captured_does_not_hide_others);
	tcase_add_test(tc, without_a_logger_the_files_are_named);
	tcase_add_test(tc, older_lines_come_before_those_that_are_remembered);
	tcase_add_test(tc, another_logger_reads_the_file_again);
	tcase_add_test(tc, following_goes_on_with_the_next_logger);
	tcase_add_test(tc, reopen_asks_the_daemon_for_each_node);
	tcase_add_test(tc, status_shows_the_last_lines_of_a_service);
	return tc;
}
