#include "exporter/mirror/tail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exporter/http/frames.h"
#include "proto/logger-message.h"
#include "tests/unit/exporter/test-exporter.h"

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
	struct frame *held;

	ck_assert_int_eq(frames_init(&frames, 3, 10), 0);
	frames_add(&frames, NULL);
	ck_assert_uint_eq(frames.next, 0);
	for (int i = 0; i < 5; i++)
		frames_add(&frames, frame_new(strdup("abc")));
	ck_assert_uint_eq(frames.first, 2);
	ck_assert_uint_eq(frames.next, 5);
	held = frame_ref(frames_get(&frames, 2));
	frames_add(&frames, frame_new(strdup("longer than all of it")));
	ck_assert_uint_eq(frames.first, 5);
	ck_assert_str_eq(frames_get(&frames, 5)->text, "longer than all of it");
	ck_assert_str_eq(held->text, "abc");
	frame_unref(held);
	frames_done(&frames);
}
END_TEST

TCase *tail_tests(void)
{
	TCase *tests = tcase_create("tail");

	tcase_add_test(tests, a_frame_is_read_when_it_is_complete);
	tcase_add_test(tests, an_invalid_frame_is_refused);
	tcase_add_test(tests, the_last_frames_are_kept);
	return tests;
}
