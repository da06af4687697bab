#include "tests/unit/fixtures/main.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/notify/directory.h"
#include "tests/unit/fixtures/scratch.h"

static const char *below; /* the scratch directory: where the sockets are */
static struct notify_directory *first, *second;

int __wrap_address_directory(char **ret);
int __wrap_address_directory(char **ret)
{
	return asprintf(ret, "%s%s", directory, below) < 0 ? -ENOMEM : 0;
}

static void setup(void)
{
	make_directory();
	below = "/run";
}

static void teardown(void)
{
	first = notify_directory_free(first);
	second = notify_directory_free(second);
	remove_directory();
}

/* Binds a socket and checks that its path, which is that of @name, is one. */
static void check_bind(struct notify_directory *d, const char *name)
{
	char *path, expected[128];
	struct stat st;
	int fd = notify_directory_bind(d, (uid_t)-1, 0600, &path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	(void)snprintf(expected, sizeof(expected), "%s/run/%s", directory, name);
	ck_assert_str_eq(path, expected);
	ck_assert_int_eq(lstat(path, &st), 0);
	ck_assert(S_ISSOCK(st.st_mode));
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	free(path);
	(void)close(fd);
}

START_TEST(each_daemon_has_its_own_directory)
{
	ck_assert_int_eq(notify_directory_new(&first, false), 0);
	ck_assert_int_eq(notify_directory_new(&second, false), 0);
	check_bind(first, "notify.0/1");
	check_bind(second, "notify.1/1");
	check_bind(first, "notify.0/2");
}
END_TEST

START_TEST(free_directory_is_removed_and_made_again)
{
	ck_assert_int_eq(notify_directory_new(&first, false), 0);
	check_bind(first, "notify.0/1");
	first = notify_directory_free(first);
	ck_assert_int_lt(access("run/notify.0", F_OK), 0);
	ck_assert_int_eq(notify_directory_new(&first, false), 0);
	check_bind(first, "notify.0/1");
}
END_TEST

START_TEST(directory_without_a_lock_is_taken_over)
{
	ck_assert_int_eq(mkdir("run", 0755), 0);
	ck_assert_int_eq(mkdir("run/notify.0", 0755), 0);
	write_file("run/notify.0/7", "", 0);
	ck_assert_int_eq(notify_directory_new(&first, _i), 0);
	/* After a fault its sockets stay, and their numbers are not given again. */
	ck_assert_int_eq(access("run/notify.0/7", F_OK), _i ? 0 : -1);
	check_bind(first, "notify.0/8");
}
END_TEST

START_TEST(error_of_the_directory_above_is_returned)
{
	below = "/missing/run";
	ck_assert_int_lt(notify_directory_new(&first, false), 0);
	write_file("file", "", 0);
	below = "/file/run";
	ck_assert_int_lt(notify_directory_new(&first, false), 0);
	ck_assert_ptr_null(first);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("directory of notification sockets");
	TCase *tc = tcase_create("directory");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, each_daemon_has_its_own_directory);
	tcase_add_test(tc, free_directory_is_removed_and_made_again);
	tcase_add_loop_test(tc, directory_without_a_lock_is_taken_over, 0, 2);
	tcase_add_test(tc, error_of_the_directory_above_is_returned);
	suite_add_tcase(s, tc);
	return s;
}
