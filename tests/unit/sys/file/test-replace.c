#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "sys/file/replace.h"
#include "sys/file/tail.h"

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
	ck_assert_int_eq(replace_file(file, 0644, false, write_text, "old"), 0);
	ck_assert_int_eq(replace_file(file, 0644, true, write_text, "new"), 0);
	assert_content("new");
}
END_TEST

START_TEST(a_failed_replacement_leaves_the_old_file)
{
	ck_assert_int_eq(replace_file(file, 0644, false, write_text, "old"), 0);
	ck_assert_int_eq(replace_file(file, 0644, false, write_half, "new"), -ECANCELED);
	assert_content("old");
}
END_TEST

START_TEST(a_link_beside_the_file_is_not_followed)
{
	char victim[64];
	struct stat st;

	(void)snprintf(victim, sizeof(victim), "%s/victim", dir);
	ck_assert_int_eq(symlink(victim, beside), 0);
	ck_assert_int_eq(replace_file(file, 0644, false, write_text, "new"), 0);
	assert_content("new");
	ck_assert_int_lt(stat(victim, &st), 0);
}
END_TEST

START_TEST(a_directory_beside_the_file_is_kept)
{
	ck_assert_int_eq(replace_file(file, 0644, false, write_text, "old"), 0);
	ck_assert_int_eq(mkdir(beside, 0755), 0);
	ck_assert_int_eq(replace_file(file, 0644, true, write_text, "new"), -EISDIR);
	ck_assert_int_eq(rmdir(beside), 0);
	assert_content("old");
}
END_TEST

START_TEST(a_directory_is_not_replaced)
{
	char missing[64];

	ck_assert_int_eq(mkdir(file, 0755), 0);
	ck_assert_int_eq(replace_file(file, 0644, false, write_text, "new"), -EISDIR);
	ck_assert_int_lt(access(beside, F_OK), 0);
	ck_assert_int_eq(rmdir(file), 0);
	(void)snprintf(missing, sizeof(missing), "%s/folder/file", dir);
	ck_assert_int_eq(replace_file(missing, 0644, false, write_text, "new"), -ENOENT);
}
END_TEST

START_TEST(a_new_file_has_mode_0644)
{
	const mode_t mask = umask(0);
	struct stat st;

	ck_assert_int_eq(replace_file(file, 0644, true, write_text, "new"), 0);
	(void)umask(mask);
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFREG | 0644);
}
END_TEST

/* As on a disk that is full: a little is noticed by the flush, and more while it is written. */
START_TEST(a_file_that_cannot_be_written_leaves_the_old_one)
{
	static char much[100000];
	struct rlimit limit, little;
	int flush, write;

	memset(much, 'x', sizeof(much) - 1);
	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(replace_file(file, 0644, false, write_text, "old"), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	little = (struct rlimit){ 2, limit.rlim_max };
	/* Check writes to files, too. */
	(void)setrlimit(RLIMIT_FSIZE, &little);
	flush = replace_file(file, 0644, false, write_text, "new");
	write = replace_file(file, 0644, false, write_text, much);
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_int_lt(flush, 0);
	ck_assert_int_lt(write, 0);
	assert_content("old");
}
END_TEST

START_TEST(a_path_that_is_too_long_is_refused)
{
	char path[PATH_MAX];

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(replace_file(path, 0644, false, write_text, "new"), -ENAMETOOLONG);
}
END_TEST

START_TEST(last_line_of_a_file_is_read)
{
	static const struct {
		const char *text, *line;
	} rows[] = {
		{ "", "" },
		{ "a", "a" },
		{ "a\n", "a" },
		{ "a\nbc", "bc" },
		{ "a\nbcdef\n", "bcd" },
		{ "a\n\n", "" },
	};
	char line[4] = "?";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup(closep) int fd = fd_new_sealed("test", strlen(rows[i].text), rows[i].text,
						       strlen(rows[i].text));

		tail_read_line(fd, line, sizeof(line));
		ck_assert_str_eq(line, rows[i].line);
	}
	tail_read_line(-1, line, sizeof(line));
	ck_assert_str_eq(line, "");
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
	tcase_add_test(tc, a_directory_beside_the_file_is_kept);
	tcase_add_test(tc, a_directory_is_not_replaced);
	tcase_add_test(tc, a_new_file_has_mode_0644);
	tcase_add_test(tc, a_file_that_cannot_be_written_leaves_the_old_one);
	tcase_add_test(tc, a_path_that_is_too_long_is_refused);
	tcase_add_test(tc, last_line_of_a_file_is_read);
	suite_add_tcase(s, tc);
	return s;
}
