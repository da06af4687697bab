#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "proto/history/line.h"

static const struct history_line line = {
	.time_usec = 1700000000000000,
	.node = "web/api",
	.generation = 7,
	.why = "asked by pid 7, uid 0",
	.total_usec = 3700000,
	.has_phases = true,
	.phases = { .waiting_usec = 100000, .draining_usec = 3200000, .stopping_usec = 400000 },
	.forced = true,
	.held_by = { { "lease", "pg_dump", "nightly", 3100000 }, { "log", NULL, NULL, 1000 } },
	.n_held_by = 2,
};

START_TEST(a_line_is_read_as_it_was_written)
{
	cleanup(json_decrefp) json_t *object = history_line_build(&line);
	struct history_line in;

	ck_assert_int_eq(history_line_parse(object, &in), 0);
	ck_assert_str_eq(in.node, "web/api");
	ck_assert_str_eq(in.why, line.why);
	ck_assert_uint_eq(in.time_usec, line.time_usec);
	ck_assert_uint_eq(in.generation, 7);
	ck_assert_uint_eq(in.total_usec, 3700000);
	ck_assert(in.forced && in.has_phases);
	ck_assert_uint_eq(in.phases.draining_usec, 3200000);
	ck_assert_uint_eq(in.phases.closing_usec, 0);
	ck_assert_uint_eq(in.n_held_by, 2);
	ck_assert_str_eq(in.held_by[0].who, "pg_dump");
	ck_assert_ptr_null(in.held_by[1].who);
	ck_assert_uint_eq(in.held_by[1].usec, 1000);
}
END_TEST

START_TEST(a_line_of_the_root_has_no_phases)
{
	struct history_line root = line, in;
	cleanup(json_decrefp) json_t *object = NULL;

	root.node = "";
	root.has_phases = false;
	root.n_held_by = 0;
	object = history_line_build(&root);
	ck_assert_ptr_null(json_object_get(object, "phases"));
	ck_assert_ptr_null(json_object_get(object, "held_by"));
	ck_assert_int_eq(history_line_parse(object, &in), 0);
	ck_assert(!in.has_phases);
	ck_assert_uint_eq(in.n_held_by, 0);
}
END_TEST

START_TEST(other_objects_are_no_lines)
{
	static const struct {
		const char *member, *value;
	} wrong[] = {
		{ "node", "1" },
		{ "total_usec", "-1" },
		{ "total_usec", "\"1s\"" },
		{ "phases", "[]" },
		{ "phases", "{\"delay_usec\": -1}" },
		{ "held_by", "{}" },
		{ "held_by", "[1]" },
		{ "held_by", "[{}]" },
		{ "forced", "1" },
		{ "generation", "1.5" },
		{ "time_usec", "\"today\"" },
		{ "why", "null" },
	};
	struct history_line in;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		cleanup(json_decrefp) json_t *object = history_line_build(&line);

		json_object_set_new(object, wrong[i].member,
				    json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
		ck_assert_int_eq(history_line_parse(object, &in), -EBADMSG);
	}
}
END_TEST

START_TEST(more_holders_than_three_are_left_out)
{
	cleanup(json_decrefp) json_t *object = history_line_build(&line);
	json_t *held_by = json_object_get(object, "held_by");
	struct history_line in;

	for (int i = 0; i < 5; i++)
		json_array_append(held_by, json_array_get(held_by, 0));
	ck_assert_int_eq(history_line_parse(object, &in), 0);
	ck_assert_uint_eq(in.n_held_by, HISTORY_HOLDERS);
}
END_TEST

START_TEST(the_file_is_beside_the_report)
{
	static const struct {
		const char *history, *report, *path;
	} cases[] = {
		{ NULL, NULL, NULL },
		{ NULL, "none", NULL },
		{ NULL, "/var/lib/r.json", "/var/lib/history.jsonl" },
		{ NULL, "/r", "/history.jsonl" },
		{ "none", "/var/lib/r.json", NULL },
		{ "/h", "/var/lib/r.json", "/h" },
		{ "/h", NULL, "/h" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup(freep) char *path = NULL;

		ck_assert_int_eq(history_path(&path, cases[i].history, cases[i].report), 0);
		ck_assert_pstr_eq(path, cases[i].path);
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("history");
	TCase *tc = tcase_create("line");

	tcase_add_test(tc, a_line_is_read_as_it_was_written);
	tcase_add_test(tc, a_line_of_the_root_has_no_phases);
	tcase_add_test(tc, other_objects_are_no_lines);
	tcase_add_test(tc, more_holders_than_three_are_left_out);
	tcase_add_test(tc, the_file_is_beside_the_report);
	suite_add_tcase(s, tc);
	return s;
}
