/* Files that the kernel alone serves, and the closing of others. */
#include "tests/unit/fixtures/main.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "sys/ipc/passed.h"
#include "tests/unit/fixtures/scratch.h"

START_TEST(objects_of_the_kernel_are_recognized)
{
	int pipes[2], pair[2];

	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);

	const int fds[] = { pipes[0],
			    pipes[1],
			    pair[0],
			    pair[1],
			    eventfd(0, EFD_CLOEXEC),
			    memfd_create("x", MFD_CLOEXEC) };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		ck_assert_msg(passed_is_served_by_kernel(fds[i]), "%zu", i);
		(void)close(fds[i]);
	}
}
END_TEST

START_TEST(files_of_file_systems_are_not)
{
	static const char *const paths[] = { "/", "/proc/self/exe", "/dev/null" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		int fd = open(paths[i], O_RDONLY | O_CLOEXEC);

		ck_assert_msg(!passed_is_served_by_kernel(fd), "%s", paths[i]);
		(void)close(fd);
	}
	ck_assert(!passed_is_served_by_kernel(-1));
}
END_TEST

START_TEST(a_fifo_is_a_file_of_its_file_system)
{
	int fd;

	make_directory();
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	fd = open("fifo", O_RDWR | O_CLOEXEC);
	ck_assert(!passed_is_served_by_kernel(fd));
	(void)close(fd);
	remove_directory();
}
END_TEST

/* In a mount namespace of its own any file can have the path of one. */
START_TEST(a_file_with_the_path_of_a_memfd_is_recognised)
{
	int fd;

	/* Only root can build it, and not below a chroot. */
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return;
	ck_assert_int_eq(mount("tmpfs", "/mnt", "tmpfs", 0, NULL), 0);
	ck_assert_int_eq(mkdir("/mnt/proc", 0700), 0);
	ck_assert_int_eq(mount("/proc", "/mnt/proc", NULL, MS_BIND | MS_REC, NULL), 0);
	ck_assert_int_eq(chroot("/mnt"), 0);
	fd = open("/memfd:x (deleted)", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert(!passed_is_served_by_kernel(fd));
	(void)close(fd);
}
END_TEST

START_TEST(a_child_closes_shared_descriptors)
{
	int pipes[2], status;
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
	pid = passed_close_apart(&pipes[1], 1);
	ck_assert_int_gt(pid, 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(read(pipes[0], &byte, 1), 0);
	ck_assert_int_lt(fcntl(pipes[1], F_GETFD), 0);
	(void)close(pipes[0]);
}
END_TEST

START_TEST(no_child_closes_what_is_none_or_a_socket_of_a_network)
{
	static const int none[] = { -1, -ENOENT };
	int pipes[2], tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), status;

	ck_assert_int_eq(passed_close_now(-1), -1);
	passed_close_all_now(none, ARRAY_SIZE(none));
	if (tcp >= 0)
		ck_assert_int_eq(passed_close_now(tcp), -1);
	ck_assert_int_lt(waitpid(-1, &status, 0), 0);
	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC), 0);
	ck_assert_int_eq(passed_close_now(pipes[0]), -1);
	ck_assert_int_gt(waitpid(-1, &status, 0), 0);
	(void)close(pipes[1]);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("passed");
	TCase *tc = tcase_create("passed");

	tcase_add_test(tc, objects_of_the_kernel_are_recognized);
	tcase_add_test(tc, no_child_closes_what_is_none_or_a_socket_of_a_network);
	tcase_add_test(tc, files_of_file_systems_are_not);
	tcase_add_test(tc, a_fifo_is_a_file_of_its_file_system);
	tcase_add_test(tc, a_file_with_the_path_of_a_memfd_is_recognised);
	tcase_add_test(tc, a_child_closes_shared_descriptors);
	suite_add_tcase(s, tc);
	return s;
}
