#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/file/path.h"

/* Any number: no entry in the system's databases is needed. */
#define USER  12345
#define GROUP 23456

static char base[] = "/tmp/test-path-tree.XXXXXX";

static void make_base(void)
{
	(void)umask(077);
	ck_assert_ptr_nonnull(mkdtemp(base));
	ck_assert_int_eq(chmod(base, 0755), 0);
	(void)umask(022);
}

static void remove_base(void)
{
	char command[PATH_MAX];

	(void)snprintf(command, sizeof(command), "rm -rf %s", base);
	ck_assert_int_eq(system(command), 0);
}

static const char *below(const char *name)
{
	static char path[4][PATH_MAX];
	static unsigned n;

	(void)snprintf(path[n %= 4], PATH_MAX, "%s/%s", base, name);
	return path[n++];
}

static int give(const char *name, uid_t uid, mode_t mode)
{
	return path_give_directory(below(name), mode, uid, uid == (uid_t)-1 ? (gid_t)-1 : GROUP);
}

static int clear(const char *name)
{
	return path_remove_tree(below(name));
}

static void is_directory(const char *name, uid_t uid, gid_t gid, mode_t mode)
{
	struct stat st;

	ck_assert_int_eq(lstat(below(name), &st), 0);
	ck_assert(S_ISDIR(st.st_mode));
	ck_assert_uint_eq(st.st_uid, uid);
	ck_assert_uint_eq(st.st_gid, gid);
	ck_assert_uint_eq(st.st_mode & 07777, mode);
}

static bool exists(const char *name)
{
	struct stat st;

	return lstat(below(name), &st) == 0;
}

START_TEST(a_directory_is_made_with_owner_and_mode)
{
	ck_assert_int_eq(give("a/b", USER, 02750), 0);
	is_directory("a", 0, 0, 0755);
	is_directory("a/b", USER, GROUP, 02750);
	ck_assert_int_eq(give("c", (uid_t)-1, 0700), 0);
	is_directory("c", 0, 0, 0700);
}
END_TEST

START_TEST(an_existing_one_changes_its_owner_and_mode)
{
	ck_assert_int_eq(mkdir(below("a"), 0700), 0);
	ck_assert_int_eq(mkdir(below("a/kept"), 0700), 0);
	ck_assert_int_eq(give("a", USER, 0755), 0);
	is_directory("a", USER, GROUP, 0755);
	is_directory("a/kept", 0, 0, 0700);
	ck_assert_int_eq(give("a", (uid_t)-1, 0711), 0);
	is_directory("a", USER, GROUP, 0711);
	/* The next user gets it where nobody else could have put it there. */
	ck_assert_int_eq(give("a", USER + 1, 0711), 0);
	is_directory("a", USER + 1, GROUP, 0711);
}
END_TEST

START_TEST(in_a_directory_of_its_user_none_of_others_is_given)
{
	ck_assert_int_eq(give("a", USER, 0755), 0);
	ck_assert_int_eq(give("a/b/c", USER, 0700), 0);
	is_directory("a/b", 0, 0, 0755);
	is_directory("a/b/c", USER, GROUP, 0700);
	ck_assert_int_eq(give("a/b/c", USER + 1, 0700), -EUSERS);
	ck_assert_int_eq(mkdir(below("a/other"), 0755), 0);
	ck_assert_int_eq(chown(below("a/other"), USER + 1, GROUP), 0);
	ck_assert_int_eq(give("a/other", USER, 0700), -EUSERS);
	is_directory("a/other", USER + 1, GROUP, 0755);
}
END_TEST

START_TEST(a_link_is_followed_where_no_other_user_may_change_it)
{
	ck_assert_int_eq(mkdir(below("real"), 0700), 0);
	ck_assert_int_eq(symlink("real", below("link")), 0);
	ck_assert_int_eq(give("link", USER, 0755), 0);
	is_directory("real", USER, GROUP, 0755);
	ck_assert_int_eq(mkdir(below("root"), 0700), 0);
	ck_assert_int_eq(symlink("../root", below("real/link")), 0);
	ck_assert_int_eq(give("real/link", USER, 0755), -ELOOP);
	ck_assert_int_eq(give("real/link/b", USER, 0755), -ELOOP);
	ck_assert_int_eq(clear("real/link"), -ENOTDIR);
	ck_assert_int_eq(clear("real/link/x"), -ELOOP);
	ck_assert_int_eq(clear("link"), -ENOTDIR);
	ck_assert_int_eq(clear("real"), 0);
	ck_assert(!exists("real"));
	is_directory("root", 0, 0, 0700);
	ck_assert(!exists("root/b"));
}
END_TEST

START_TEST(a_tree_is_removed_with_any_depth_and_names)
{
	char at[PATH_MAX];

	ck_assert_ptr_nonnull(getcwd(at, sizeof(at)));
	ck_assert_int_eq(mkdir(below("t"), 0700), 0);
	ck_assert_int_eq(chdir(below("t")), 0);
	for (int i = 0; i < 3000; i++) {
		ck_assert_int_eq(mkdir("..a", 0700), 0);
		ck_assert_int_eq(mkdir("b", 0700), 0);
		ck_assert_int_eq(mkdir("b/c", 0700), 0);
		ck_assert_int_eq(mkfifo("f", 0), 0);
		ck_assert_int_eq(chdir("..a"), 0);
	}
	ck_assert_int_eq(chdir(at), 0);
	for (int i = 0; i < 3000; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "t/%d", i);
		ck_assert_int_eq(mkdir(below(name), 0700), 0);
	}
	ck_assert_int_eq(clear("t"), 0);
	ck_assert(!exists("t"));
	ck_assert_int_eq(clear("t"), 0);
	ck_assert_int_eq(clear("t/none"), 0);
}
END_TEST

/* The names at the top are those that a directory from below gets there. */
START_TEST(names_at_the_top_are_passed_over)
{
	char name[64];
	struct stat st;

	ck_assert_int_eq(mkdir(below("t"), 0700), 0);
	ck_assert_int_eq(mkdir(below("t/a"), 0700), 0);
	ck_assert_int_eq(mkdir(below("t/a/b"), 0700), 0);
	ck_assert_int_eq(mkdir(below("t/a/b/c"), 0700), 0);
	ck_assert_int_eq(lstat(below("t/a/b"), &st), 0);
	(void)snprintf(name, sizeof(name), "t/%ju.0", (uintmax_t)st.st_ino);
	ck_assert_int_eq(mkdir(below(name), 0700), 0);
	ck_assert_int_eq(clear("t"), 0);
	ck_assert(!exists("t"));
}
END_TEST

START_TEST(a_file_is_no_directory)
{
	ck_assert_int_eq(mkfifo(below("f"), 0600), 0);
	ck_assert_int_eq(give("f", USER, 0755), -ENOTDIR);
	ck_assert_int_eq(clear("f"), -ENOTDIR);
	ck_assert(exists("f"));
}
END_TEST

START_TEST(a_name_may_be_too_long)
{
	char name[NAME_MAX + 2];

	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(give(name, USER, 0755), -ENAMETOOLONG);
	name[sizeof(name) - 2] = '\0';
	ck_assert_int_eq(give(name, USER, 0755), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("path-tree");
	TCase *tc = tcase_create("path-tree");

	if (geteuid() != 0) {
		(void)puts("1..0 # SKIP machine: not root");
		exit(EXIT_SUCCESS);
	}
	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, make_base, remove_base);
	tcase_add_test(tc, a_directory_is_made_with_owner_and_mode);
	tcase_add_test(tc, an_existing_one_changes_its_owner_and_mode);
	tcase_add_test(tc, in_a_directory_of_its_user_none_of_others_is_given);
	tcase_add_test(tc, a_link_is_followed_where_no_other_user_may_change_it);
	tcase_add_test(tc, a_tree_is_removed_with_any_depth_and_names);
	tcase_add_test(tc, names_at_the_top_are_passed_over);
	tcase_add_test(tc, a_file_is_no_directory);
	tcase_add_test(tc, a_name_may_be_too_long);
	suite_add_tcase(s, tc);
	return s;
}
