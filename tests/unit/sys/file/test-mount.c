/* Mount points, and file systems that answer or hang: in the child that asks, lstat(2) is that of the test. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
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

static bool lacks_openat2;

long __real_syscall(long number, long a, long b, long c, long d);
long __wrap_syscall(long number, long a, long b, long c, long d);

long __wrap_syscall(long number, long a, long b, long c, long d)
{
	errno = ENOSYS;
	return lacks_openat2 ? -1 : __real_syscall(number, a, b, c, d);
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

START_TEST(every_user_has_files_in_proc)
{
	struct stat st;

	ck_assert_int_eq(stat("/proc", &st), 0);
	ck_assert_uint_eq(st.st_mode & S_IWOTH, 0);
	ck_assert_int_eq(mount_correct_owner(&st), 0);
	ck_assert_uint_eq(st.st_mode & S_IWOTH, S_IWOTH);
	ck_assert_int_eq(stat("/sys", &st), 0);
	ck_assert_int_eq(mount_correct_owner(&st), 0);
	ck_assert_uint_eq(st.st_mode & S_IWOTH, 0);
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

START_TEST(text_of_the_path_has_to_do_without_openat2)
{
	const char *path = find_tmpfs();

	lacks_openat2 = true;
	ck_assert(!mount_is_local("/proc/self/status"));
	ck_assert(!path || mount_is_local(path));
}
END_TEST

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
		ck_assert_int_eq(status, 0);
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

static char folder[64];

static void make_folder(void)
{
	(void)strcpy(folder, "/tmp/test-mount-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_int_eq(symlink("/proc/self", "foreign"), 0);
	ck_assert_int_eq(symlink("there/further", "link"), 0);
	ck_assert_int_eq(symlink("link", "again"), 0);
	ck_assert_int_eq(symlink("circle", "circle"), 0);
}

static void remove_folder(void)
{
	static const char *const names[] = { "foreign", "link", "again", "circle" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)unlink(names[i]);
	(void)rmdir(folder);
}

static const struct {
	const char *name;
	bool local;
} ways[] = {
	{ "file", true },	  { "again", true },
	{ "link/file", true },	  { "./no-such-folder/../file", true },
	{ "foreign", false },	  { "foreign/status", false },
	{ "../../proc", false },  { "foreign/../../tmp/file", false },
	{ "circle", false },	  { "../../../../tmp/file", true },
	{ "foreign-file", true }, { "//.//file", true },
};

START_TEST(path_is_local_if_all_that_it_leads_through_is)
{
	char path[128];

	if (!mount_is_local(folder)) {
		(void)puts("# SKIP machine: /tmp is not local");
		return;
	}
	(void)snprintf(path, sizeof(path), "%s/%s", folder, ways[_i].name);
	ck_assert_msg(mount_is_local(path) == ways[_i].local, "%s", path);
}
END_TEST

struct call {
	int result, got;
	bool faults;
	char name[16];
};

static int answer(void *arg)
{
	struct call *call = arg;
	struct stat st;

	(void)lstat("/", &st);
	if (call->faults)
		_exit(1);
	call->got = 7;
	(void)prctl(PR_GET_NAME, call->name);
	return call->result == 0  ? 0
	       : call->result < 0 ? call->result
				  : open("/proc/self/comm", O_RDONLY);
}

static int call_foreign(struct call *call)
{
	int r = mount_call("/proc/self/status", 20000, answer, call, sizeof(*call));

	ck_assert_int_gt(waitpid(-1, NULL, 0), 0);
	return r;
}

START_TEST(child_answers_for_a_file_system_that_may_hang)
{
	unsigned before = spawned_count_descriptors(getpid());
	struct call call = { .result = 0 };
	int fd;

	ck_assert_int_eq(call_foreign(&call), 0);
	ck_assert_int_eq(call.got, 7);
	ck_assert_str_eq(call.name, MOUNT_NAME);
	call.result = -EPERM;
	ck_assert_int_eq(call_foreign(&call), -EPERM);
	call.result = 1;
	fd = call_foreign(&call);
	ck_assert_int_gt(fd, 2);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	(void)close(fd);
	call.faults = true;
	ck_assert_int_eq(call_foreign(&call), -EIO);
	ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);
}
END_TEST

START_TEST(caller_does_not_wait_for_a_file_system_that_hangs)
{
	unsigned before = spawned_count_descriptors(getpid());
	struct call call = { .result = 1 };

	hangs = true;
	ck_assert_int_eq(mount_call("/proc/self/status", 1, answer, &call, sizeof(call)),
			 -ETIMEDOUT);
	ck_assert_int_eq(call.got, 0);
	ck_assert_uint_eq(spawned_count_descriptors(getpid()), before);
	ck_assert_int_gt(waitpid(-1, NULL, 0), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("mount");
	TCase *tc = tcase_create("mount");

	tcase_add_test(tc, mount_point_is_the_nearest_one_above);
	tcase_add_test(tc, text_of_the_path_has_to_do_without_openat2);
	tcase_add_test(tc, every_user_has_files_in_proc);
	tcase_add_test(tc, file_system_in_memory_is_not_asked);
	tcase_add_test(tc, answer_of_another_file_system_is_waited_for);
	tcase_add_test(tc, file_system_that_hangs_does_not_answer);
	tcase_add_test(tc, child_answers_for_a_file_system_that_may_hang);
	tcase_add_test(tc, caller_does_not_wait_for_a_file_system_that_hangs);
	suite_add_tcase(s, tc);
	tc = tcase_create("ways");
	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_loop_test(tc, path_is_local_if_all_that_it_leads_through_is, 0, ARRAY_SIZE(ways));
	suite_add_tcase(s, tc);
	return s;
}
