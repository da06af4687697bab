#include "exporter/mirror/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exporter/http/frames.h"
#include "proto/logger-message.h"
#include "tests/unit/exporter/test-daemon.h"
#include "tests/unit/fixtures/scratch.h"

static struct logger_frame frame_with(size_t name, size_t text)
{
	return (struct logger_frame){
		.size = (uint32_t)(sizeof(struct logger_frame) + name + text),
		.type = LOGGER_FRAME_LINE,
		.name_length = (uint16_t)name,
	};
}

START_TEST(a_frame_is_read_when_it_is_complete)
{
	struct logger_frame frame = frame_with(3, 5), read;
	char data[sizeof(frame) + 8];
	const char *text;
	size_t length;

	memcpy(data, &frame, sizeof(frame));
	memcpy(data + sizeof(frame), "weblines", 8);
	for (size_t i = 0; i < sizeof(data); i++)
		ck_assert_int_eq(logger_frame_parse(data, i, &read, &text, &length), 0);
	ck_assert_int_eq(logger_frame_parse(data, sizeof(data), &read, &text, &length),
			 sizeof(data));
	ck_assert_uint_eq(length, 5);
	ck_assert_mem_eq(text, "lines", 5);
}
END_TEST

START_TEST(an_invalid_frame_is_refused)
{
	struct logger_frame bad[] = { frame_with(0, 0), frame_with(9, 0), frame_with(0, 0),
				      frame_with(0, 0) };
	struct logger_frame read;
	const char *text;
	size_t length;

	bad[0].size = sizeof(read) - 1;
	bad[1].size -= 1;
	bad[2].size = UINT32_MAX;
	bad[3].kind = LOGGER_KINDS;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_int_eq(logger_frame_parse((const char *)&bad[i], sizeof(bad[i]), &read,
						    &text, &length),
				 -EBADMSG);
}
END_TEST

START_TEST(the_last_frames_are_kept)
{
	struct frames frames;
	json_t *held;

	ck_assert_int_eq(frames_init(&frames, 3, 10), 0);
	frames_add(&frames, NULL);
	ck_assert_uint_eq(frames.next, 0);
	for (int i = 0; i < 5; i++)
		frames_add(&frames, frame_new(strdup("abc")));
	ck_assert_uint_eq(frames.first, 2);
	ck_assert_uint_eq(frames.next, 5);
	held = json_incref(frames_get(&frames, 2));
	frames_add(&frames, frame_new(strdup("longer than all of it")));
	ck_assert_uint_eq(frames.first, 5);
	ck_assert_str_eq(json_string_value(frames_get(&frames, 5)), "longer than all of it");
	ck_assert_str_eq(json_string_value(held), "abc");
	json_decref(held);
	frames_done(&frames);
}
END_TEST

/* --- with a daemon --- */

#define OUTPUT(captured) "{\"node\":\"web\",\"stream\":\"stdout\",\"captured\":" captured "}"
#define OUTPUTS(list)	 "{\"continues\":true,\"parameters\":{\"outputs\":[" list "]}}"

static struct mirror {
	sd_event *event;
	struct tails tails;
	int logger;	  /* its end of the stream; 0: there is none */
	unsigned changed; /* states */
	unsigned lines;	  /* number of reports */
	char last[6000];  /* the last report */
} mirror;

static void note_change(void *arg)
{
	(void)arg;
	mirror.changed++;
}

static void note_line(const char *node, json_t *line, void *arg)
{
	char *text = json_dumps(line, JSON_COMPACT);

	(void)arg;
	ck_assert_str_eq(node, "web");
	mirror.lines++;
	(void)snprintf(mirror.last, sizeof(mirror.last), "%s", text);
	free(text);
}

static void begin_mirror(void)
{
	struct tails_owner owner = {
		.socket = CONTROL, .max = 2, .changed = note_change, .line = note_line
	};

	mirror = (struct mirror){ 0 };
	make_directory();
	ck_assert_int_ge(sd_event_new(&mirror.event), 0);
	daemon_begin(mirror.event);
	owner.event = mirror.event;
	tails_init(&mirror.tails, &owner);
}

static void end_mirror(void)
{
	if (mirror.logger)
		(void)close(mirror.logger);
	tails_done(&mirror.tails);
	daemon_end();
	(void)sd_event_unref(mirror.event);
	remove_directory();
}

/* A logger, for the next call of Logs. */
static void begin_logger(void)
{
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	mirror.logger = fds[1];
	daemon_reply("Logs", OUTPUTS(OUTPUT("true")));
	daemon_pass("Logs", fds[0]);
}

static void put_frame(enum logger_frame_type type, uint64_t next, const char *text)
{
	struct logger_frame frame = frame_with(3, strlen(text));

	frame.type = (uint16_t)type;
	frame.time_usec = next;
	frame.next = next;
	frame.lost = 9;
	frame.position = type == LOGGER_FRAME_LOST ? next - 1 + frame.lost : 0;
	ck_assert_int_eq(write(mirror.logger, &frame, sizeof(frame)), sizeof(frame));
	ck_assert_int_eq(write(mirror.logger, "web", 3), 3);
	ck_assert_int_eq(write(mirror.logger, text, strlen(text)), (ssize_t)strlen(text));
}

static struct tail *get_tail(void)
{
	struct tail *tail;

	ck_assert_int_eq(tail_get(&tail, &mirror.tails, "web"), 0);
	return tail;
}

/* The texts of the last @max lines, each followed by a blank. */
static const char *texts_of(const struct tail *tail, size_t max)
{
	static char all[256];
	json_t *lines = tail_lines(tail, max), *line;
	size_t i;

	ck_assert_ptr_nonnull(lines);
	*all = '\0';
	json_array_foreach (lines, i, line)
		(void)snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s ",
			       json_string_value(json_object_get(line, "text")));
	json_decref(lines);
	return all;
}

START_TEST(a_tail_has_the_last_lines_and_reports_each_new_one)
{
	struct tail *tail;

	begin_logger();
	put_frame(LOGGER_FRAME_LINE, 1, "a");
	put_frame(LOGGER_FRAME_LINE, 2, "b");
	put_frame(LOGGER_FRAME_NOW, 0, "");
	tail = get_tail();
	ck_assert_int_eq(tail_state(tail), TAIL_BEGINS);
	AWAIT(mirror.event, tail_state(tail) == TAIL_READY);
	ck_assert_str_eq(daemon_parameters("Logs"), "{\"nodes\":[\"web\"],\"lines\":200}");
	ck_assert_uint_eq(mirror.changed, 1);
	ck_assert_uint_eq(mirror.lines, 0);
	put_frame(LOGGER_FRAME_LINE, 3, "c");
	AWAIT(mirror.event, mirror.lines == 1);
	ck_assert_str_eq(mirror.last, "{\"time\":\"1970-01-01T00:00:00.000003Z\","
				      "\"stream\":\"stdout\",\"text\":\"c\",\"node\":\"web\"}");
	put_frame(LOGGER_FRAME_LOST, 4, "");
	AWAIT(mirror.event, mirror.lines == 2);
	ck_assert_str_eq(texts_of(tail, 10), "a b c ... 9 bytes were left out ... ");
	ck_assert_str_eq(texts_of(tail, 2), "c ... 9 bytes were left out ... ");
	ck_assert_str_eq(texts_of(tail, 0), "");
}
END_TEST

START_TEST(as_many_lines_are_kept_as_can_be_asked_for)
{
	struct tail *tail;
	json_t *lines;

	begin_logger();
	tail = get_tail();
	for (uint64_t i = 1; i <= TAIL_LINES; i++)
		put_frame(LOGGER_FRAME_LINE, i, "x");
	put_frame(LOGGER_FRAME_LINE, TAIL_LINES + 1, "y");
	put_frame(LOGGER_FRAME_NOW, 0, "");
	AWAIT(mirror.event, tail_state(tail) == TAIL_READY);
	lines = tail_lines(tail, SIZE_MAX);
	ck_assert_uint_eq(json_array_size(lines), TAIL_LINES);
	json_decref(lines);
	ck_assert_str_eq(texts_of(tail, 2), "x y ");
}
END_TEST

START_TEST(a_long_line_is_cut)
{
	static char text[2 * TAIL_TEXT_MAX];
	struct tail *tail;
	json_t *lines;

	memset(text, 'x', sizeof(text) - 1);
	begin_logger();
	put_frame(LOGGER_FRAME_LINE, 1, text);
	put_frame(LOGGER_FRAME_NOW, 0, "");
	tail = get_tail();
	AWAIT(mirror.event, tail_state(tail) == TAIL_READY);
	lines = tail_lines(tail, 1);
	ck_assert_uint_eq(json_string_length(json_object_get(json_array_get(lines, 0), "text")),
			  TAIL_TEXT_MAX);
	json_decref(lines);
}
END_TEST

START_TEST(another_logger_brings_no_line_twice)
{
	struct tail *tail;

	begin_logger();
	put_frame(LOGGER_FRAME_LINE, 1, "a");
	put_frame(LOGGER_FRAME_NOW, 0, "");
	tail = get_tail();
	tail_hold(tail);
	AWAIT(mirror.event, tail_state(tail) == TAIL_READY);
	/* It asks again in a second. */
	timers_skip(UINT64_C(1000000));
	(void)close(mirror.logger);
	begin_logger();
	put_frame(LOGGER_FRAME_LINE, 1, "a");
	put_frame(LOGGER_FRAME_LINE, 2, "b");
	put_frame(LOGGER_FRAME_NOW, 0, "");
	AWAIT(mirror.event, mirror.lines == 1);
	ck_assert_int_eq(tail_state(tail), TAIL_FAILED);
	ck_assert_str_eq(mirror.last,
			 "{\"error\":\"the stream of the logger has ended\",\"node\":\"web\"}");
	AWAIT(mirror.event, tail_state(tail) == TAIL_READY);
	ck_assert_uint_eq(mirror.lines, 2);
	ck_assert_str_eq(texts_of(tail, 10), "a b ");
	tail_release(&mirror.tails, "web");
}
END_TEST

static const struct {
	const char *reply, *error;
	bool refused;
} refusals[] = {
	{ "{\"error\":\"io.swansong.NoSuchNode\",\"parameters\":{\"node\":\"web\"}}",
	  "no such node", false },
	{ "{\"error\":\"io.swansong.NotPermitted\",\"parameters\":{\"reason\":\"no\"}}", "no",
	  true },
	{ "{\"error\":\"io.swansong.TooMany\",\"parameters\":{\"reason\":\"many\"}}", "many",
	  false },
	{ "{\"error\":\"a.b\",\"parameters\":{}}", "a.b", false },
	{ OUTPUTS(OUTPUT("false") "," OUTPUT("true")), "the logger has ended", false },
	{ "{\"parameters\":{}}", "the logger has ended", false },
	{ "[]", "the daemon does not answer", false },
};

START_TEST(a_refused_tail_has_the_reason)
{
	struct tail *tail;
	bool refused;

	daemon_reply("Logs", refusals[_i].reply);
	tail = get_tail();
	tail_hold(tail);
	AWAIT(mirror.event, tail_state(tail) == TAIL_FAILED);
	ck_assert_str_eq(tail_error(tail, &refused), refusals[_i].error);
	ck_assert_int_eq(refused, refusals[_i].refused);
	ck_assert_uint_eq(mirror.lines, 1);
	tail_release(&mirror.tails, "web");
}
END_TEST

START_TEST(a_service_that_is_not_captured_has_no_lines)
{
	struct tail *tail;

	daemon_reply("Logs", OUTPUTS(OUTPUT("false")));
	tail = get_tail();
	AWAIT(mirror.event, tail_state(tail) == TAIL_READY);
	ck_assert_str_eq(texts_of(tail, 10), "");
}
END_TEST

START_TEST(tails_are_as_many_as_are_allowed)
{
	struct tail *web = get_tail(), *other;

	ck_assert_int_eq(tail_get(&other, &mirror.tails, "db"), 0);
	ck_assert_int_eq(tail_get(&other, &mirror.tails, "app"), -EBUSY);
	ck_assert_int_eq(tail_get(&other, &mirror.tails, "web"), 0);
	ck_assert_ptr_eq(web, other);
}
END_TEST

START_TEST(a_tail_that_is_used_again_is_kept_for_its_whole_time)
{
	(void)get_tail();
	ck_assert_uint_eq(timers_count(TAIL_IDLE_USEC),
			  2); /* when it begins, and when it is used */
	(void)get_tail();
	ck_assert_uint_eq(timers_count(TAIL_IDLE_USEC), 3);
}
END_TEST

START_TEST(no_connection_outlives_the_tails)
{
	(void)get_tail();
	AWAIT(mirror.event, daemon_count("Logs") == 1);
	tails_done(&mirror.tails);
	AWAIT(mirror.event, daemon_connections() == 0);
}
END_TEST

static TCase *mirror_tests(void)
{
	TCase *tests = tcase_create("tails");

	tcase_add_checked_fixture(tests, begin_mirror, end_mirror);
	tcase_add_test(tests, a_tail_has_the_last_lines_and_reports_each_new_one);
	tcase_add_test(tests, as_many_lines_are_kept_as_can_be_asked_for);
	tcase_add_test(tests, a_long_line_is_cut);
	tcase_add_test(tests, another_logger_brings_no_line_twice);
	tcase_add_loop_test(tests, a_refused_tail_has_the_reason, 0, ARRAY_SIZE(refusals));
	tcase_add_test(tests, a_service_that_is_not_captured_has_no_lines);
	tcase_add_test(tests, tails_are_as_many_as_are_allowed);
	tcase_add_test(tests, a_tail_that_is_used_again_is_kept_for_its_whole_time);
	tcase_add_test(tests, no_connection_outlives_the_tails);
	return tests;
}

void add_tail_tests(Suite *suite)
{
	TCase *tests = tcase_create("tail");

	tcase_add_test(tests, a_frame_is_read_when_it_is_complete);
	tcase_add_test(tests, an_invalid_frame_is_refused);
	tcase_add_test(tests, the_last_frames_are_kept);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, mirror_tests());
}
