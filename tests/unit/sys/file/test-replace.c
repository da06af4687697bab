#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file/replace.h"

static char dir[] = "/tmp/test-replace-XXXXXX";
static char file[64], beside[64];

static void make_dir(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)snprintf(file, sizeof(file), "%s/state", dir);
	(void)snprintf(beside, sizeof(beside), "%s/state.tmp", dir);
}

static void remove_dir(void)
{
	(void)unlink(file);
	(void)unlink(beside);
	(void)rmdir(dir);
}

static int write_text(FILE *f, const void *arg)
{
	(void)fputs(arg, f);
	return 0;
}

static int write_half(FILE *f, const void *arg)
{
	(void)fputs(arg, f);
	return -ECANCELED;
}

static void assert_content(const char *expected)
{
	char text[64] = "";
	FILE *f = fopen(file, "re");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_gt(fread(text, 1, sizeof(text) - 1, f), 0);
	(void)fclose(f);
	ck_assert_str_eq(text, expected);
	ck_assert_int_lt(access(beside, F_OK), 0);
}

START_TEST(a_replaced_file_has_the_new_content)
{
	ck_assert_int_eq(replace_file(file, false, write_text, "old"), 0);
	ck_assert_int_eq(replace_file(file, true, write_text, "new"), 0);
	assert_content("new");
}
END_TEST

START_TEST(a_failed_replacement_leaves_the_old_file)
{
	ck_assert_int_eq(replace_file(file, false, write_text, "old"), 0);
	ck_assert_int_eq(replace_file(file, false, write_half, "new"), -ECANCELED);
	assert_content("old");
}
END_TEST

START_TEST(a_link_beside_the_file_is_not_followed)
{
	char victim[64];
	struct stat st;

	(void)snprintf(victim, sizeof(victim), "%s/victim", dir);
	ck_assert_int_eq(symlink(victim, beside), 0);
	ck_assert_int_eq(replace_file(file, false, write_text, "new"), 0);
	assert_content("new");
	ck_assert_int_lt(stat(victim, &st), 0);
}
END_TEST

START_TEST(a_path_that_is_too_long_is_refused)
{
	char path[PATH_MAX];

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(replace_file(path, false, write_text, "new"), -ENAMETOOLONG);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("replace");
	TCase *tc = tcase_create("replace");

	tcase_add_checked_fixture(tc, make_dir, remove_dir);
	tcase_add_test(tc, a_replaced_file_has_the_new_content);
	tcase_add_test(tc, a_failed_replacement_leaves_the_old_file);
	tcase_add_test(tc, a_link_beside_the_file_is_not_followed);
	tcase_add_test(tc, a_path_that_is_too_long_is_refused);
	suite_add_tcase(s, tc);
	return s;
}
