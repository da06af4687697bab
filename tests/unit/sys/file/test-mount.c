/* Mount points, and file systems that answer or hang: in the child that asks, lstat(2) is that of the test. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/unit/fixtures/spawned.h"
#include "sys/file/mount.h"

static bool hangs;

int __real_lstat(const char *path, struct stat *ret);
int __wrap_lstat(const char *path, struct stat *ret);

int __wrap_lstat(const char *path, struct stat *ret)
{
	if (!hangs)
		return __real_lstat(path, ret);
	(void)alarm(60);
	return pause();
}

static void check_point(const char *path, const char *expected)
{
	char *point = NULL;

	ck_assert_int_eq(mount_point_of(path, &point), 0);
	ck_assert_str_eq(point, expected);
	free(point);
}

START_TEST(mount_point_is_the_nearest_one_above)
{
	check_point("/", "/");
	check_point("/no-such-folder/file", "/");
	check_point("/procession", "/");
	check_point("/proc", "/proc");
	check_point("/proc/self/status", "/proc");
}
END_TEST

/* Returns a mount point of the common memory file system; NULL: there is none. */
static const char *find_tmpfs(void)
{
	static const char *const candidates[] = { "/dev/shm", "/dev", "/run", "/tmp" };
	struct statfs fs;

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++)
		if (statfs(candidates[i], &fs) == 0 && fs.f_type == TMPFS_MAGIC)
			return candidates[i];
	return NULL;
}

/* No process is made for it. */
START_TEST(file_system_in_memory_is_not_asked)
{
	const char *path = find_tmpfs();

	if (!path) {
		(void)puts("# SKIP machine: no tmpfs");
		return;
	}
	hangs = true;
	ck_assert(mount_answers(path));
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}
END_TEST

START_TEST(answer_of_another_file_system_is_waited_for)
{
	static const char *const paths[] = { "/proc/self/status", "/proc/no-such-file" };
	unsigned before = spawned_count_descriptors(getpid());

	for (int i = 0; i < 2; i++) {
		bool answers = false;
		int status;

		/* The limit is short, and the machine may be busy. */
		for (int tries = 0; !answers && tries < 100; tries++) {
			answers = mount_answers(paths[i]);
			ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);
			ck_assert_int_gt(waitpid(-1, &status, 0), 0);
		}
		ck_assert(answers);
		ck_assert_int_eq(status, i == 0 ? 0 : 1 << 8);
	}
}
END_TEST

START_TEST(file_system_that_hangs_does_not_answer)
{
	unsigned before = spawned_count_descriptors(getpid());
	int status;

	hangs = true;
	ck_assert(!mount_answers("/proc/self/status"));
	ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);
	ck_assert_int_gt(waitpid(-1, &status, 0), 0);
	ck_assert_int_eq(status, SIGKILL);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("mount");
	TCase *tc = tcase_create("mount");

	tcase_add_test(tc, mount_point_is_the_nearest_one_above);
	tcase_add_test(tc, file_system_in_memory_is_not_asked);
	tcase_add_test(tc, answer_of_another_file_system_is_waited_for);
	tcase_add_test(tc, file_system_that_hangs_does_not_answer);
	suite_add_tcase(s, tc);
	return s;
}
