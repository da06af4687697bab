/* Files that a process executes: those of a child, which maps parts of them. */
#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/fixtures/scratch.h"
#include "sys/process/proc.h"

static pid_t child;
static struct proc_files files;

static void make(const char *name)
{
	write_file(name, "text", 4);
}

/* The child has mapped the open file @fd. */
static void map(int fd, int protection)
{
	int ready[2];
	char c;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (mmap(NULL, 4096, protection, MAP_PRIVATE, fd, 0) == MAP_FAILED ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	(void)close(fd);
	(void)close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	(void)close(ready[0]);
}

static void map_file(const char *name, int protection)
{
	make(name);
	map(open(name, O_RDWR | O_CLOEXEC), protection);
}

static void end_child(void)
{
	if (child > 0) {
		(void)kill(child, SIGKILL);
		(void)waitpid(child, NULL, 0);
	}
	child = 0;
	remove_directory();
}

/* The next look is a new one. */
static void forget_files(void)
{
	for (size_t i = 0; i < files.by_path.n_slots; i++)
		free(files.by_path.slots[i]);
	dict_done(&files.by_path);
	files = (struct proc_files){ .namespace = "" };
}

/* @path: of the file that was replaced, at its end; NULL: none was. */
static void expect_replaced(const char *path)
{
	char *found = NULL;

	ck_assert_int_eq(proc_find_replaced(&files, child, &found), path ? 1 : 0);
	forget_files();
	if (path)
		ck_assert_str_eq(strrchr(found, '/') + 1, path);
	free(found);
}

START_TEST(file_that_was_replaced_by_rename_is_found)
{
	map_file("program", PROT_READ | PROT_EXEC);
	expect_replaced(NULL);
	make("next");
	ck_assert_int_eq(rename("next", "program"), 0);
	expect_replaced("program");
	ck_assert_int_eq(unlink("program"), 0);
	expect_replaced(NULL);
}
END_TEST

START_TEST(file_with_a_strange_name_is_found)
{
	map_file("a b (deleted)", PROT_READ | PROT_EXEC);
	make("next");
	ck_assert_int_eq(rename("next", "a b (deleted)"), 0);
	expect_replaced("a b (deleted)");
}
END_TEST

START_TEST(file_that_is_not_executed_does_not_count)
{
	map_file("data", PROT_READ);
	make("next");
	ck_assert_int_eq(rename("next", "data"), 0);
	expect_replaced(NULL);
}
END_TEST

START_TEST(file_that_is_written_in_place_does_not_count)
{
	map_file("program", PROT_READ | PROT_EXEC);
	make("program");
	expect_replaced(NULL);
}
END_TEST

START_TEST(same_file_at_its_path_again_does_not_count)
{
	map_file("program", PROT_READ | PROT_EXEC);
	ck_assert_int_eq(link("program", "other"), 0);
	ck_assert_int_eq(unlink("program"), 0);
	ck_assert_int_eq(link("other", "program"), 0);
	expect_replaced(NULL);
}
END_TEST

START_TEST(folder_at_its_path_does_not_count)
{
	map_file("program", PROT_READ | PROT_EXEC);
	ck_assert_int_eq(unlink("program"), 0);
	ck_assert_int_eq(mkdir("program", 0700), 0);
	expect_replaced(NULL);
}
END_TEST

START_TEST(file_in_memory_does_not_count)
{
	map(memfd_create("libjit.so", MFD_CLOEXEC), PROT_READ | PROT_EXEC);
	expect_replaced(NULL);
}
END_TEST

/* Most processes execute the same libraries. */
START_TEST(path_is_looked_up_once_in_a_look)
{
	char *found;

	map_file("program", PROT_READ | PROT_EXEC);
	ck_assert_int_eq(proc_find_replaced(&files, child, &found), 0);
	make("next");
	ck_assert_int_eq(rename("next", "program"), 0);
	ck_assert_int_eq(proc_find_replaced(&files, child, &found), 0);
	forget_files();
	expect_replaced("program");
}
END_TEST

START_TEST(path_of_a_program_has_no_mark)
{
	char path[PATH_MAX], expected[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", expected, sizeof(expected) - 1);

	ck_assert_int_gt(n, 0);
	expected[n] = '\0';
	ck_assert_int_eq(proc_program(getpid(), path), 0);
	ck_assert_str_eq(path, expected);
	ck_assert_int_eq(proc_program(0, path), -ENOENT);
}
END_TEST

START_TEST(process_that_has_gone_is_reported)
{
	char *found;

	map_file("program", PROT_READ | PROT_EXEC);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	ck_assert_int_eq(proc_find_replaced(&files, child, &found), -ENOENT);
	forget_files();
	child = 0;
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("proc-files");
	TCase *t = tcase_create("proc-files");

	tcase_add_checked_fixture(t, make_directory, end_child);
	tcase_add_test(t, file_that_was_replaced_by_rename_is_found);
	tcase_add_test(t, file_with_a_strange_name_is_found);
	tcase_add_test(t, file_that_is_not_executed_does_not_count);
	tcase_add_test(t, file_that_is_written_in_place_does_not_count);
	tcase_add_test(t, same_file_at_its_path_again_does_not_count);
	tcase_add_test(t, folder_at_its_path_does_not_count);
	tcase_add_test(t, file_in_memory_does_not_count);
	tcase_add_test(t, path_is_looked_up_once_in_a_look);
	tcase_add_test(t, path_of_a_program_has_no_mark);
	tcase_add_test(t, process_that_has_gone_is_reported);
	suite_add_tcase(suite, t);
	return suite;
}
