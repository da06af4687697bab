#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "sys/process/pid-file.h"

static char folder[64], path[100];

static void setup(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/test-pid-file.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/pid", folder);
}

static void teardown(void)
{
	(void)unlink(path);
	ck_assert_int_eq(rmdir(folder), 0);
}

static int read_it(pid_t *pid, const char **why)
{
	uid_t owner;

	return pid_file_read(path, pid, &owner, why);
}

static void write_it(const char *text)
{
	FILE *file = fopen(path, "we");

	ck_assert_ptr_nonnull(file);
	(void)fputs(text, file);
	ck_assert_int_eq(fclose(file), 0);
}

static const struct row {
	const char *text;
	pid_t pid; /* 0: refused */
	int result;
} rows[] = {
	{ "12", 12, 0 },
	{ "12\n", 12, 0 },
	{ "12 \r\n", 12, 0 },
	{ "12\nsendmail -bd\n", 12, 0 },
	{ "2147483647\n", 2147483647, 0 },
	{ "", 0, -ENODATA },
	{ "\n12", 0, -EINVAL },
	{ " 12", 0, -EINVAL },
	{ "-1", 0, -EINVAL },
	{ "0\n", 0, -EINVAL },
	{ "12x", 0, -EINVAL },
	{ "2147483648", 0, -EINVAL },
	{ "99999999999999999999", 0, -EINVAL },
	{ "00000000000000000000000000000000000000012", 0, -EINVAL },
	{ "000000000000000000000000000000024\n", 0, -EINVAL }, /* not 2 */
	{ "0000000000000000000000002345678", 2345678, 0 },
	{ "0000000000000000000000002345678\n", 2345678, 0 },
	{ "00000000000000000000000023456789", 0, -EINVAL }, /* none of its beginnings */
	{ "000000000000000000000000234567890", 0, -EINVAL },
	{ "7\n00000000000000000000000000000000000000012", 7, 0 },
};

START_TEST(the_first_line_is_a_pid)
{
	const struct row *row = &rows[_i];
	const char *why;
	pid_t pid = 0;

	write_it(row->text);
	ck_assert_int_eq(read_it(&pid, &why), row->result);
	ck_assert_int_eq(pid, row->pid);
	if (row->result)
		ck_assert_str_eq(why, row->result == -ENODATA ? "empty" : "not a pid");
}
END_TEST

START_TEST(other_kinds_of_files_are_refused_without_waiting)
{
	const char *why;
	pid_t pid;

	ck_assert_int_eq(read_it(&pid, &why), -ENOENT);
	ck_assert_str_eq(why, "no such file");
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_lt(read_it(&pid, &why), 0);
	ck_assert_str_eq(why, "not a regular file");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(symlink("/proc/1/stat", path), 0);
	ck_assert_int_eq(read_it(&pid, &why), -ELOOP);
	ck_assert_str_eq(why, "a symbolic link");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_lt(read_it(&pid, &why), 0);
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

START_TEST(the_user_of_the_file_is_returned)
{
	const char *why;
	uid_t owner;
	pid_t pid;

	write_it("12\n");
	ck_assert_int_eq(pid_file_read(path, &pid, &owner, &why), 0);
	ck_assert_uint_eq(owner, geteuid());
	if (geteuid() != 0)
		return;
	ck_assert_int_eq(chown(path, 3, 0), 0);
	ck_assert_int_eq(pid_file_read(path, &pid, &owner, &why), 0);
	ck_assert_uint_eq(owner, 3);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("pid-file");
	TCase *tc = tcase_create("pid-file");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, the_first_line_is_a_pid, 0, (int)ARRAY_SIZE(rows));
	tcase_add_test(tc, other_kinds_of_files_are_refused_without_waiting);
	tcase_add_test(tc, the_user_of_the_file_is_returned);
	suite_add_tcase(suite, tc);
	return suite;
}
