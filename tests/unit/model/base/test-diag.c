#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <string.h>

#include "model/base/diag.h"

struct seen {
	size_t n, used;
	char last[256];
	char all[16384];
	enum diag_level last_level;
};

static void see(enum diag_level level, struct place place, const char *text, void *arg)
{
	struct seen *seen = arg;

	seen->n++;
	seen->last_level = level;
	(void)snprintf(seen->last, sizeof(seen->last), "%s", text);
	seen->used += (size_t)snprintf(seen->all + seen->used, sizeof(seen->all) - seen->used,
				       "%s|", text);
	ck_assert_uint_lt(seen->used, sizeof(seen->all));
}

static struct place at(const char *file, unsigned line)
{
	return (struct place){ .file = file, .line = line };
}

START_TEST(errors_are_in_the_order_of_files_and_lines)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	struct seen seen = { .n = 0 };

	ck_assert_int_eq(diag_new(&diag), 0);
	diag_file(diag, "b.ini");
	diag_file(diag, "a.ini");
	diag_add(diag, DIAG_ERROR, at("a.ini", 1), "five");
	diag_add(diag, DIAG_ERROR, at("late.ini", 1), "six");
	diag_add(diag, DIAG_ERROR, at("b.ini", 10), "three");
	diag_add(diag, DIAG_WARNING, at("b.ini", 9), "two");
	diag_add(diag, DIAG_ERROR, at("b.ini", 10), "four");
	diag_add(diag, DIAG_ERROR, at("b.ini", 0), "one");
	diag_each(diag, see, &seen);
	ck_assert_str_eq(seen.all, "b.ini: one|b.ini:9: two|b.ini:10: three|b.ini:10: four|"
				   "a.ini:1: five|late.ini:1: six|");
	ck_assert_uint_eq(diag_errors(diag), 5);
	ck_assert_uint_eq(diag_warnings(diag), 1);
}
END_TEST

static void keep(enum diag_level level, struct place place, const char *text, void *arg)
{
	*(struct place *)arg = place;
}

START_TEST(text_has_its_place)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	struct place place;

	ck_assert_int_eq(diag_new(&diag), 0);
	diag_add(diag, DIAG_ERROR, at(NULL, 0), "without a file");
	diag_each(diag, keep, &place);
	ck_assert_ptr_null(place.file);
	diag_add(diag, DIAG_ERROR, at("b.ini", 7), "wrong");
	diag_each(diag, keep, &place);
	ck_assert_str_eq(place.file, "b.ini");
	ck_assert_uint_eq(place.line, 7);
}
END_TEST

START_TEST(a_text_is_one_line)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	struct seen seen = { .n = 0 };

	ck_assert_int_eq(diag_new(&diag), 0);
	diag_add(diag, DIAG_ERROR, at(NULL, 0), "'%s'", "a\nb");
	diag_each(diag, see, &seen);
	ck_assert_str_eq(seen.last, "'a b'");
}
END_TEST

START_TEST(same_entry_is_added_once)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	struct seen seen = { .n = 0 };

	ck_assert_int_eq(diag_new(&diag), 0);
	for (int i = 0; i < 3; i++) {
		diag_add(diag, DIAG_WARNING, at("a.ini", 1), "w");
		diag_add(diag, DIAG_WARNING, at("a.ini", 1), "v");
		diag_add(diag, DIAG_WARNING, at("a.ini", 2), "w");
		diag_add(diag, DIAG_WARNING, at("b.ini", 1), "w");
	}
	diag_each(diag, see, &seen);
	ck_assert_uint_eq(seen.n, 4);
	ck_assert_uint_eq(diag_warnings(diag), 4);
}
END_TEST

START_TEST(dropped_entries_are_counted)
{
	cleanup(diag_freep) struct diag *diag = NULL;
	struct seen seen = { .n = 0 };

	ck_assert_int_eq(diag_new(&diag), 0);
	for (unsigned i = 0; i < DIAG_MAX; i++)
		diag_add(diag, DIAG_WARNING, at("a.ini", i), "w");
	diag_each(diag, see, &seen);
	ck_assert_uint_eq(seen.n, DIAG_MAX);

	diag_add(diag, DIAG_WARNING, at("a.ini", 1), "w");
	diag_add(diag, DIAG_ERROR, at("a.ini", 1), "e");
	seen.n = 0;
	diag_each(diag, see, &seen);
	ck_assert_uint_eq(seen.n, DIAG_MAX + 1);
	ck_assert_str_eq(seen.last, "2 more, not shown");
	ck_assert_int_eq(seen.last_level, DIAG_ERROR);
	ck_assert_uint_eq(diag_errors(diag), 1);
	ck_assert_uint_eq(diag_warnings(diag), DIAG_MAX + 1);
}
END_TEST

START_TEST(a_cut_excerpt_is_marked)
{
	char buf[DIAG_EXCERPT_MAX], text[2 * DIAG_EXCERPT_MAX + 1] = "";

	ck_assert_str_eq(diag_excerpt(buf, ""), "");
	ck_assert_str_eq(diag_excerpt(buf, "short"), "short");
	for (size_t i = 0; i < DIAG_EXCERPT_MAX; i++)
		(void)strcat(text, "ü");
	for (size_t skip = 0; skip < strlen(text); skip += 2) {
		size_t n = strlen(diag_excerpt(buf, text + skip));
		bool cut = strcmp(buf, text + skip) != 0;

		ck_assert_uint_lt(n, DIAG_EXCERPT_MAX);
		ck_assert(!cut || strcmp(buf + n - 3, "...") == 0);
		ck_assert_uint_eq((n - (cut ? 3 : 0)) % 2, 0);
	}
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("diag");
	TCase *tc = tcase_create("diag");

	tcase_add_test(tc, errors_are_in_the_order_of_files_and_lines);
	tcase_add_test(tc, a_text_is_one_line);
	tcase_add_test(tc, text_has_its_place);
	tcase_add_test(tc, same_entry_is_added_once);
	tcase_add_test(tc, dropped_entries_are_counted);
	tcase_add_test(tc, a_cut_excerpt_is_marked);
	suite_add_tcase(s, tc);
	return s;
}
