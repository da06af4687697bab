/* Paths on which another user has put something: each row is made by a shell in a folder of root's. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/macro.h"
#include "sys/file/path.h"

static char folder[64];

static void setup(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/test-path.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
}

static void teardown(void)
{
	char command[100];

	ck_assert_int_eq(chdir("/"), 0);
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

/* "his" is a directory of another user, "ours" one of root's. */
#define HIS  "mkdir -p his ours; chown 65534 his; "
#define TEAM "mkdir team ours; chmod 775 team; "
#define TMP  "mkdir tmp ours; chmod 1777 tmp; "

static const struct row {
	const char *made, *path;
	int result;
	const char *doubt; /* of a refused path; NULL: none */
} rows[] = {
	/* nothing on the path can be changed by another user */
	{ "", "new", 0, NULL },
	{ "", "made/for/it/new", 0, NULL },
	{ "touch file", "file", 0, NULL },
	{ "touch file; chown 65534 file", "file", 0, NULL },
	{ "touch file; ln file second", "file", 0, NULL },
	{ "touch file; ln -s file link", "link", 0, NULL },
	{ "mkdir a; ln -s a b; ln -s ../b a/c", "a/c/new", 0, NULL },
	{ "mkdir a b", "a/../b/./new", 0, NULL },
	{ "ln -s missing link", "link", 0, NULL },
	{ "ln -s link link", "link", -ELOOP, NULL },
	{ "mkdir file", "file", -EISDIR, NULL },
	{ "mkdir file", "file/", -EISDIR, NULL },
	{ "touch file", "file/new", -ENOTDIR, NULL },
	{ "mkfifo file", "file", -ENOTSUP, NULL },
	/* the directory of another user */
	{ HIS, "his/new", 0, NULL },
	{ HIS, "his/a/b/new", 0, NULL },
	{ HIS "ln -s his link", "link/new", 0, NULL },
	{ HIS "touch his/file; chown 65534 his/file", "his/file", 0, NULL },
	{ HIS "touch his/file", "his/file", 0, NULL },
	{ HIS "ln -s ../ours his/logs", "his/logs/new", -ELOOP, "his" },
	{ HIS "ln -s ../ours his/logs", "his/logs/a/b/new", -ELOOP, "his" },
	{ HIS "touch ours/file; ln -s ../ours/file his/file", "his/file", -ELOOP, "his" },
	{ HIS "ln -s ../ours/new his/file", "his/file", -ELOOP, "his" },
	{ HIS "touch ours/file; ln ours/file his/file", "his/file", -EMLINK, "his" },
	{ HIS "mkdir his/deep; ln -s ../../ours his/deep/logs", "his/deep/logs/new", -ELOOP,
	  "his" },
	{ HIS "mkdir his/deep", "his/deep/../new", -ELOOP, "his" },
	{ HIS "mkfifo his/file", "his/file", -ENOTSUP, "his" },
	{ HIS "mkdir his/file", "his/file", -EISDIR, "his" },
	{ HIS "ln -s /proc/self/cwd his/logs", "his/logs/new", -ELOOP, "his" },
	/* a directory of a group's */
	{ TEAM, "team/new", 0, NULL },
	{ TEAM "touch team/file; chown 65534 team/file", "team/file", 0, NULL },
	{ TEAM "ln -s ../ours team/logs", "team/logs/new", -ELOOP, "team" },
	{ TEAM "touch ours/file; ln ours/file team/file", "team/file", -EMLINK, "team" },
	/* a directory of all users, with the sticky bit: what is ours stays ours */
	{ TMP, "tmp/new", 0, NULL },
	{ TMP, "tmp/ours/new", 0, NULL },
	{ TMP "mkdir tmp/ours place; ln -s ../../place tmp/ours/logs", "tmp/ours/logs/new", 0,
	  NULL },
	{ TMP "mkdir tmp/his; chown 65534 tmp/his", "tmp/his/new", 0, NULL },
	{ TMP "ln -s ../ours tmp/logs", "tmp/logs/new", -ELOOP, "tmp" },
	{ TMP "touch tmp/file; chown 65534 tmp/file", "tmp/file", -EUSERS, "tmp" },
	{ TMP "touch ours/file; ln ours/file tmp/file", "tmp/file", -EMLINK, "tmp" },
	/* links of a process, which it can change */
	{ "ln -s /proc/self/root/tmp link", "link/new", -ELOOP, "/proc" },
	{ TMP "chmod 777 tmp; mkdir tmp/ours; ln -s ../../ours tmp/ours/logs", "tmp/ours/logs/new",
	  -ELOOP, "tmp" },
};

static int open_it(const char *path)
{
	int fd = path_open(path, O_WRONLY | O_APPEND | O_CREAT, 0640);

	ck_assert_int_eq(fd_close(fd), -1);
	return fd < 0 ? fd : 0;
}

START_TEST(a_path_is_refused_where_another_user_leads_it_elsewhere)
{
	const struct row *row = &rows[_i];
	char path[200], doubtful[200] = "";
	struct path_doubt doubt;
	mode_t mask = umask(022);

	if (geteuid() != 0)
		return;
	(void)snprintf(path, sizeof(path), "%s/%s", folder, row->path);
	if (row->doubt)
		(void)snprintf(doubtful, sizeof(doubtful), "%s%s%s",
			       *row->doubt == '/' ? "" : folder, *row->doubt == '/' ? "" : "/",
			       row->doubt);
	ck_assert_msg(system(*row->made ? row->made : ":") >= 0, "%s", row->made);
	/* The judgement beforehand is that of the opening, whether the path is relative or not. */
	ck_assert_msg(path_refusal(path, O_WRONLY, 0, &doubt) == row->result, "%s", row->made);
	if (row->result < 0)
		ck_assert_str_eq(doubt.at, doubtful);
	ck_assert_int_eq(path_refusal(row->path, O_WRONLY, 0, &doubt), row->result);
	ck_assert_msg(open_it(path) == row->result, "%s", row->made);
	ck_assert_int_eq(open_it(row->path), row->result);
	ck_assert_int_eq(access("ours/new", F_OK), -1);
	ck_assert_int_eq(access("ours/a", F_OK), -1);
	(void)umask(mask);
}
END_TEST

static const struct row any[] = {
	{ "touch file; ln -s file link", "link", 0, NULL },
	{ "mkfifo file", "file", 0, NULL },
	{ "ln -s /dev/null file", "file", 0, NULL },
	{ HIS "mkfifo his/file; chown 65534 his/file", "his/file", 0, NULL },
	{ HIS "touch ours/file; ln -s ../ours/file his/file", "his/file", -ELOOP, NULL },
	{ HIS "touch ours/file; ln ours/file his/file", "his/file", -EMLINK, NULL },
	{ TMP "touch tmp/file; chown 65534 tmp/file", "tmp/file", -EUSERS, NULL },
	{ "mkdir file", "file", -EISDIR, NULL },
	{ "", "file", -ENOENT, NULL },
};

START_TEST(file_of_any_type_is_read_where_no_other_user_leads_to_it)
{
	const struct row *row = &any[_i];
	struct path_doubt doubt;
	int fd;

	if (geteuid() != 0)
		return;
	ck_assert_msg(system(*row->made ? row->made : ":") == 0, "%s", row->made);
	fd = path_open(row->path, O_RDONLY | O_NONBLOCK, 0);
	ck_assert_msg((fd < 0 ? fd : 0) == row->result, "%s", row->made);
	ck_assert_int_eq(path_refusal(row->path, O_NONBLOCK, 0, &doubt),
			 row->result == -ENOENT ? 0 : row->result);
	ck_assert_int_eq(fd_close(fd), -1);
}
END_TEST

START_TEST(a_refused_path_makes_nothing)
{
	struct path_doubt doubt;

	ck_assert_int_eq(path_refusal("a/b/new", O_WRONLY, geteuid(), &doubt), 0);
	ck_assert_int_eq(access("a", F_OK), -1);
}
END_TEST

START_TEST(names_that_are_too_long_are_refused)
{
	char path[2 * PATH_MAX];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(open_it(path), -ENAMETOOLONG);
	path[NAME_MAX + 2] = '\0';
	ck_assert_int_eq(open_it(path), -ENAMETOOLONG);
	ck_assert_int_eq(open_it(""), -EISDIR);
	ck_assert_int_eq(open_it("/"), -EISDIR);
}
END_TEST

START_TEST(a_rename_keeps_the_other_file)
{
	struct path path;

	ck_assert_int_eq(system("echo a >a; echo b >b"), 0);
	ck_assert_int_eq(path_find(&path, "a", PATH_FIND), 0);
	ck_assert_int_eq(path_rename_in(&path, "a", "b", PATH_KEEP), -EEXIST);
	ck_assert_int_eq(path_rename_in(&path, "a", "c", PATH_KEEP), 0);
	ck_assert_int_eq(path_rename_in(&path, "c", "b", PATH_REPLACE), 0);
	ck_assert_int_eq(path_unlink_in(&path, "b"), 0);
	ck_assert_int_eq(path_unlink_in(&path, "b"), -ENOENT);
	path_done(&path);
}
END_TEST

/* A program may be started without a standard input: each second directory has the number. */
START_TEST(descriptor_0_is_as_good_as_any_other)
{
	int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);

	(void)close(STDIN_FILENO);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(open_it("made/for/it/new"), 0);
		ck_assert_int_eq(open_it("made/for/one/more/new"), 0);
		ck_assert_int_eq(open_it("new"), 0);
	}
	ck_assert_int_lt(fcntl(STDIN_FILENO, F_GETFD), 0);
	ck_assert_int_eq(dup2(input, STDIN_FILENO), STDIN_FILENO);
	(void)close(input);
}
END_TEST

START_TEST(directory_is_made_in_one_that_exists)
{
	const mode_t mask = umask(0);
	struct stat st;

	ck_assert_int_eq(path_make_directory("a", 0750), 0);
	ck_assert_int_eq(stat("a", &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFDIR | 0750);
	ck_assert_int_eq(path_make_directory("a", 0750), -EEXIST);
	ck_assert_int_eq(path_make_directory("b/c", 0750), -ENOENT);
	ck_assert_int_lt(access("b", F_OK), 0);
	ck_assert_int_eq(path_make_directory("a/b", 0700), 0);
	ck_assert_int_eq(path_remove_directory("a"), -ENOTEMPTY);
	ck_assert_int_eq(path_remove_directory("a/b"), 0);
	ck_assert_int_eq(path_remove_directory("a/b"), -ENOENT);
	ck_assert_int_eq(path_remove_directory("b/c"), -ENOENT);
	ck_assert_int_eq(path_remove_directory("/"), -EISDIR);
	ck_assert_int_eq(path_make_directory("/", 0700), -EISDIR);
	(void)umask(mask);
}
END_TEST

START_TEST(removed_file_is_not_followed)
{
	ck_assert_int_eq(system("touch file; ln -s file link; mkdir folder"), 0);
	ck_assert_int_eq(path_unlink("link"), 0);
	ck_assert_int_eq(access("file", F_OK), 0);
	ck_assert_int_eq(path_unlink("link"), -ENOENT);
	ck_assert_int_eq(path_unlink("folder"), -EISDIR);
	ck_assert_int_eq(path_unlink("missing/file"), -ENOENT);
	ck_assert_int_eq(path_unlink("file"), 0);
	ck_assert_int_lt(access("file", F_OK), 0);
}
END_TEST

START_TEST(up_to_forty_links_are_followed)
{
	char link[16], to[16] = "file";

	ck_assert_int_eq(system("touch file"), 0);
	for (int i = 1; i <= 41; i++) {
		(void)snprintf(link, sizeof(link), "link%d", i);
		ck_assert_int_eq(symlink(to, link), 0);
		(void)strcpy(to, link);
	}
	ck_assert_int_eq(open_it("link40"), 0);
	ck_assert_int_eq(open_it("link41"), -ELOOP);
}
END_TEST

START_TEST(each_refusal_has_its_text)
{
	static const int refusals[] = { ENOTSUP, ELOOP, EMLINK, EUSERS, EISDIR };

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		ck_assert_str_ne(path_error_text(refusals[i]), strerror(refusals[i]));
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(path_error_text(refusals[i]),
					 path_error_text(refusals[k]));
	}
	ck_assert_str_eq(path_error_text(ENOSPC), strerror(ENOSPC));
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("path");
	TCase *tc = tcase_create("path");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_path_is_refused_where_another_user_leads_it_elsewhere, 0,
			    (int)ARRAY_SIZE(rows));
	tcase_add_loop_test(tc, file_of_any_type_is_read_where_no_other_user_leads_to_it, 0,
			    (int)ARRAY_SIZE(any));
	tcase_add_test(tc, a_refused_path_makes_nothing);
	tcase_add_test(tc, names_that_are_too_long_are_refused);
	tcase_add_test(tc, a_rename_keeps_the_other_file);
	tcase_add_test(tc, descriptor_0_is_as_good_as_any_other);
	tcase_add_test(tc, directory_is_made_in_one_that_exists);
	tcase_add_test(tc, removed_file_is_not_followed);
	tcase_add_test(tc, up_to_forty_links_are_followed);
	tcase_add_test(tc, each_refusal_has_its_text);
	suite_add_tcase(suite, tc);
	return suite;
}
