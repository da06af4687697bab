#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/loop/disabled.h"
#include "tests/unit/fixtures/scratch.h"

static struct log quiet;
static struct disabled disabled;

static void setup(void)
{
	make_directory();
	log_init(&quiet, "test", LOG_EMERG);
	disabled = (struct disabled){ .names = NULL };
}

static void teardown(void)
{
	disabled_done(&disabled);
	remove_directory();
}

static int read_from(const char *text, size_t size)
{
	write_file("state", text, size);
	disabled_done(&disabled);
	return disabled_read(&disabled, "state", &quiet);
}

START_TEST(names_are_a_set)
{
	static const char *const names[] = { "web", "a", "db/x", "web", "z@1" };

	for (size_t i = 0; i < 5; i++)
		ck_assert_int_eq(disabled_set(&disabled, names[i], true), 0);
	ck_assert_uint_eq(disabled.n, 4);
	for (size_t i = 1; i < disabled.n; i++)
		ck_assert_int_lt(strcmp(disabled.names[i - 1], disabled.names[i]), 0);
	ck_assert(disabled_has(&disabled, "db/x") && !disabled_has(&disabled, "db"));
	ck_assert_int_eq(disabled_set(&disabled, "db/x", false), 0);
	ck_assert_int_eq(disabled_set(&disabled, "db/x", false), 0);
	ck_assert(!disabled_has(&disabled, "db/x") && disabled_has(&disabled, "z@1"));
	ck_assert_uint_eq(disabled.n, 3);
}
END_TEST

START_TEST(a_written_file_is_read_again)
{
	struct disabled again = { .names = NULL };

	ck_assert_int_eq(disabled_set(&disabled, "web", true), 0);
	ck_assert_int_eq(disabled_set(&disabled, "a/b@2", true), 0);
	ck_assert_int_eq(disabled_write(&disabled, "state"), 0);
	ck_assert_int_eq(access("state.tmp", F_OK), -1);
	ck_assert_int_eq(disabled_read(&again, "state", &quiet), 0);
	ck_assert_uint_eq(again.n, 2);
	ck_assert(disabled_has(&again, "web") && disabled_has(&again, "a/b@2"));
	disabled_done(&again);
}
END_TEST

START_TEST(template_has_one_number_of_instances)
{
	static const uint64_t numbers[] = { 3, 12, 0 };

	ck_assert_int_eq(disabled_set(&disabled, "web@1", true), 0);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(disabled_scale(&disabled, "web@", &numbers[i]), 0);
		ck_assert_uint_eq(disabled.n, 2);
	}
	ck_assert_int_eq(disabled_scale(&disabled, "a/web@", &numbers[1]), 0);
	ck_assert_int_eq(disabled_write(&disabled, "state"), 0);
	disabled_done(&disabled);
	ck_assert_int_eq(disabled_read(&disabled, "state", &quiet), 0);
	ck_assert_uint_eq(disabled.n, 3);
	ck_assert(disabled_has(&disabled, "web@1") && disabled_has(&disabled, "web@ 0"));
	ck_assert(disabled_has_scaled(&disabled, "a/web@") && !disabled_has_scaled(&disabled, "eb@"));
	ck_assert_int_eq(disabled_scale(&disabled, "a/web@", NULL), 0);
	ck_assert(disabled_has_scaled(&disabled, "web@") && !disabled_has_scaled(&disabled, "a/web@"));
	ck_assert_int_eq(disabled_scale(&disabled, "web@", NULL), 0);
	ck_assert(!disabled_has_scaled(&disabled, "") && disabled.n == 1);
}
END_TEST

START_TEST(a_missing_file_disables_nothing)
{
	static const char *const paths[] = { NULL, "none", "missing", "missing/state" };

	for (size_t i = 0; i < 4; i++) {
		ck_assert_int_eq(disabled_read(&disabled, paths[i], &quiet), 0);
		ck_assert_uint_eq(disabled.n, 0);
	}
}
END_TEST

START_TEST(garbage_is_kept_aside)
{
	static const char *const garbage[] = {
		"disabled web\nrubbish\n", "disabled \n", "disabled a//b\n",
		"Disabled web\n",	   "disabled",	  "disabled web \n",
		"instances web@\n", "instances web@ x\n", "instances web 3\n", "instances web@ 10001\n",
	};

	for (size_t i = 0; i < 10; i++) {
		ck_assert_int_eq(read_from(garbage[i], strlen(garbage[i])), -EBADMSG);
		ck_assert_uint_eq(disabled.n, 0);
		ck_assert_int_eq(access("state", F_OK), 0);
		disabled_keep_aside("state", &quiet);
		ck_assert_int_eq(access("state", F_OK), -1);
		ck_assert_int_eq(unlink("state.bad"), 0);
	}
	ck_assert_int_eq(read_from("disabled web\n\0", 14), -EBADMSG);
	ck_assert_uint_eq(disabled.n, 0);
}
END_TEST

START_TEST(comments_and_a_last_line_without_end_are_read)
{
	ck_assert_int_eq(read_from("# a comment\n\ndisabled web\ndisabled db", 37), 0);
	ck_assert_uint_eq(disabled.n, 2);
	ck_assert(disabled_has(&disabled, "web") && disabled_has(&disabled, "db"));
}
END_TEST

START_TEST(a_failed_write_leaves_the_file)
{
	struct stat st;

	ck_assert_int_eq(read_from("disabled web\n", 13), 0);
	ck_assert_int_eq(mkdir("state.tmp", 0755), 0);
	ck_assert_int_eq(disabled_set(&disabled, "db", true), 0);
	ck_assert_int_eq(disabled_write(&disabled, "state"), -EISDIR);
	ck_assert_int_eq(disabled_write(&disabled, "missing/state"), -ENOENT);
	ck_assert_int_eq(stat("state", &st), 0);
	ck_assert_int_eq(st.st_size, 13);
	ck_assert_int_eq(rmdir("state.tmp"), 0);
	ck_assert_int_eq(mkdir("directory", 0755), 0);
	ck_assert_int_lt(disabled_write(&disabled, "directory"), 0);
	ck_assert_int_eq(access("directory.tmp", F_OK), -1);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("disabled");
	TCase *tc = tcase_create("disabled");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, names_are_a_set);
	tcase_add_test(tc, a_written_file_is_read_again);
	tcase_add_test(tc, template_has_one_number_of_instances);
	tcase_add_test(tc, a_missing_file_disables_nothing);
	tcase_add_test(tc, garbage_is_kept_aside);
	tcase_add_test(tc, comments_and_a_last_line_without_end_are_read);
	tcase_add_test(tc, a_failed_write_leaves_the_file);
	suite_add_tcase(s, tc);
	return s;
}
