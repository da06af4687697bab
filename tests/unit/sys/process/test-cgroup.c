#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/fixtures/spawned.h"
#include "sys/process/cgroup.h"

/* On plain directories, without the behaviour of the kernel: that is in test-cgroup-kernel.c. */

static char directory[64];
static int top;

static void make_directory(void)
{
	spawned_setup();
	(void)snprintf(directory, sizeof(directory), "/tmp/test-cgroup-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	top = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(top, 0);
}

static void remove_directory(void)
{
	char command[128];

	(void)close(top);
	(void)snprintf(command, sizeof(command), "rm -rf %s", directory);
	ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *path, const char *text)
{
	int fd = openat(top, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
}

START_TEST(populated_comes_from_cgroup_events)
{
	ck_assert_int_eq(cgroup_make(top, "a"), 0);
	ck_assert_int_eq(cgroup_make(top, "a"), 0);
	ck_assert_int_eq(cgroup_is_populated(top, "a"), 0); /* being removed */
	write_file("a/cgroup.events", "populated 0\nfrozen 1\n");
	ck_assert_int_eq(cgroup_is_populated(top, "a"), 0);
	write_file("a/cgroup.events", "populated 1\nfrozen 0\n");
	ck_assert_int_eq(cgroup_is_populated(top, "a"), 1);
	ck_assert_int_eq(cgroup_is_populated(top, "none"), 0);
}
END_TEST

static void add_pid(pid_t pid, void *arg)
{
	*(long *)arg += pid;
}

START_TEST(invisible_processes_are_skipped)
{
	long sum = 0;

	ck_assert_int_eq(cgroup_make(top, "a"), 0);
	write_file("a/cgroup.procs", "0\n12\n0\n4194304\n");
	ck_assert_int_eq(cgroup_processes(top, "a", add_pid, &sum), 0);
	ck_assert_int_eq(sum, 12 + 4194304);
	ck_assert_int_eq(cgroup_processes(top, "b", add_pid, &sum), -ENOENT);
}
END_TEST

START_TEST(all_of_many_processes_are_listed)
{
	char *text = malloc(10000 * 8), *p = text;
	long sum = 0;

	for (int i = 1; i <= 10000; i++)
		p += sprintf(p, "%d\n", i);
	ck_assert_int_eq(cgroup_make(top, "a"), 0);
	write_file("a/cgroup.procs", text);
	ck_assert_int_eq(cgroup_processes(top, "a", add_pid, &sum), 0);
	ck_assert_int_eq(sum, 10000L * 10001 / 2);
	free(text);
}
END_TEST

START_TEST(controllers_are_whole_words)
{
	write_file("cgroup.controllers", "cpuset cpu hugetlb\n");
	ck_assert(cgroup_lists(top, ".", "cgroup.controllers", "cpu"));
	ck_assert(cgroup_lists(top, ".", "cgroup.controllers", "hugetlb"));
	ck_assert(!cgroup_lists(top, ".", "cgroup.controllers", "huge"));
	ck_assert(!cgroup_lists(top, ".", "cgroup.controllers", "memory"));
	write_file("cgroup.controllers", "");
	ck_assert(!cgroup_lists(top, ".", "cgroup.controllers", "cpu"));
	ck_assert(!cgroup_lists(top, ".", "cgroup.none", "cpu"));
}
END_TEST

START_TEST(links_are_not_followed)
{
	ck_assert_int_eq(cgroup_make(top, "a"), 0);
	write_file("victim", "");
	ck_assert_int_eq(symlinkat("../victim", top, "a/cgroup.freeze"), 0);
	ck_assert_int_eq(cgroup_write(top, "a", "cgroup.freeze", "0"), -ELOOP);
	ck_assert_int_eq(symlinkat("a", top, "b"), 0);
	ck_assert_int_lt(cgroup_open_below(top, "b"), 0);
}
END_TEST

START_TEST(names_that_are_too_long_are_refused)
{
	char path[2000];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(cgroup_write(top, path, "cgroup.freeze", "0"), -ENAMETOOLONG);
	ck_assert_int_eq(cgroup_is_populated(top, path), -ENAMETOOLONG);
	ck_assert_int_lt(cgroup_make(top, path), 0);
	ck_assert_int_lt(cgroup_remove(top, path), 0);
}
END_TEST

/* "./././@name", with @n dots. */
static char *long_path(char *buf, size_t n, const char *name)
{
	char *p = buf;

	while (n-- > 0)
		p = stpcpy(p, "./");
	(void)strcpy(p, name);
	return buf;
}

/* The group and its file have up to 1,023 bytes. */
START_TEST(names_are_as_long_as_there_is_room)
{
	char path[1024], text[8];

	ck_assert_int_eq(cgroup_make(top, "a"), 0);
	ck_assert_int_eq(cgroup_make(top, "aa"), 0);
	write_file("aa/memory.max", "1");
	ck_assert_int_eq(
		cgroup_read(top, long_path(path, 505, "aa"), "memory.max", text, sizeof(text)), 0);
	ck_assert_int_eq(
		cgroup_read(top, long_path(path, 506, "a"), "memory.max", text, sizeof(text)),
		-ENAMETOOLONG);
}
END_TEST

START_TEST(a_tree_is_removed_from_its_leaves)
{
	ck_assert_int_eq(cgroup_make(top, "a"), 0);
	ck_assert_int_eq(cgroup_make(top, "a/b"), 0);
	ck_assert_int_eq(cgroup_make(top, "a/b/c"), 0);
	ck_assert_int_eq(cgroup_make(top, "a/d"), 0);
	ck_assert_int_eq(cgroup_remove(top, "a"), 0);
	ck_assert_int_lt(faccessat(top, "a", F_OK, 0), 0);
	ck_assert_int_eq(cgroup_remove(top, "a"), 0);
}
END_TEST

START_TEST(a_plain_directory_is_not_a_group)
{
	struct spawning spawning;
	struct spawn_pool pool = { 0 };
	struct spawn_failure failure;
	struct spawned s;
	int begun, settled, r;

	spawned_init(&s);
	s.spec.cgroup = top;
	ck_assert_int_eq(spawn_begin(&s.spec, &pool, &spawning, &begun), 0);
	s.pid = spawning.pid;
	do
		r = spawn_check(&spawning, &pool, &failure, &settled);
	while (r == SPAWN_E_PENDING);
	/* The program runs outside of the group, and one of the two calls has reported it. */
	ck_assert_int_eq(r, 0);
	ck_assert_int_ne(begun | settled, 0);
	spawned_done(&s);
	spawn_pool_done(&pool);
}
END_TEST

START_TEST(a_group_out_of_sight_is_not_found)
{
	ck_assert_int_eq(cgroup_open("/../somewhere"), -ENOENT);
	errno = 0;
	ck_assert_int_eq(cgroup_open("/there/is/no/such/group"), -ENOENT);
}
END_TEST

START_TEST(without_a_descriptor_no_group_is_opened)
{
	struct rlimit limit;

	ck_assert_int_eq(cgroup_make(top, "a"), 0);
	write_file("a/cgroup.procs", "12\n");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, limit.rlim_max }), 0);
	ck_assert_int_eq(cgroup_open("/"), -EMFILE);
	ck_assert_int_eq(cgroup_open_below(top, "a"), -EMFILE);
	ck_assert_int_eq(cgroup_processes(top, "a", add_pid, NULL), -EMFILE);
	ck_assert_int_eq(cgroup_children(top, NULL, NULL), -EMFILE);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
END_TEST

/* A program may be started without a standard input. */
START_TEST(descriptor_0_is_as_good_as_any_other)
{
	int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
	char text[16];
	long sum = 0;

	ck_assert_int_eq(cgroup_make(top, "a"), 0);
	write_file("a/cgroup.procs", "12\n");
	(void)close(STDIN_FILENO);
	ck_assert_int_eq(cgroup_processes(top, "a", add_pid, &sum), 0);
	ck_assert_int_eq(sum, 12);
	ck_assert_int_eq(cgroup_write(top, "a", "cgroup.procs", "13\n"), 0);
	ck_assert_int_eq(cgroup_read(top, "a", "cgroup.procs", text, sizeof(text)), 0);
	ck_assert_str_eq(text, "13\n");
	ck_assert_int_eq(cgroup_open_below(top, "a"), STDIN_FILENO);
	ck_assert_int_eq(dup2(input, STDIN_FILENO), STDIN_FILENO);
	(void)close(input);
}
END_TEST

START_TEST(file_of_a_group_is_written_and_its_beginning_read)
{
	char text[8];

	ck_assert_int_eq(cgroup_make(top, "a"), 0);
	ck_assert_int_eq(cgroup_write(top, "a", "memory.max", "max"), -ENOENT);
	write_file("a/memory.max", "");
	ck_assert_int_eq(cgroup_write(top, "a", "memory.max", "4096"), 0);
	ck_assert_int_eq(cgroup_read(top, "a", "memory.max", text, sizeof(text)), 0);
	ck_assert_str_eq(text, "4096");
	memset(text, 'x', sizeof(text));
	ck_assert_int_eq(cgroup_read(top, "a", "memory.max", text, 4), 0);
	ck_assert_str_eq(text, "409");
	ck_assert_int_eq(text[4], 'x');
	errno = EBUSY;
	ck_assert_int_eq(cgroup_write(top, "a", "memory.max", ""), 0);
	ck_assert_int_eq(cgroup_read(top, ".", "a", text, sizeof(text)), -EISDIR);
	ck_assert_int_eq(cgroup_read(top, "b", "memory.max", text, sizeof(text)), -ENOENT);
}
END_TEST

static void add_name(const char *name, void *arg)
{
	(void)strcat(arg, name);
	ck_assert_int_eq(cgroup_remove(top, name), 0);
}

START_TEST(groups_directly_below_are_listed)
{
	char names[16] = "";

	write_file("cgroup.procs", "");
	ck_assert_int_eq(cgroup_children(top, add_name, names), 0);
	ck_assert_str_eq(names, "");
	ck_assert_int_eq(cgroup_make(top, "a"), 0);
	ck_assert_int_eq(cgroup_make(top, "a/deep"), 0);
	ck_assert_int_eq(cgroup_make(top, "b"), 0);
	ck_assert_int_eq(cgroup_children(top, add_name, names), 0);
	ck_assert_msg(strcmp(names, "ab") == 0 || strcmp(names, "ba") == 0, "%s", names);
	ck_assert_int_lt(faccessat(top, "a", F_OK, 0), 0);
}
END_TEST

START_TEST(only_the_group_of_the_machine_has_no_type)
{
	ck_assert(cgroup_is_machine_root(top));
	write_file("cgroup.type", "domain\n");
	ck_assert(!cgroup_is_machine_root(top));
}
END_TEST

START_TEST(a_unit_is_used_if_it_was_delegated)
{
	write_file("cgroup.procs", "");
	ck_assert(cgroup_is_delegated(top, "/"));
	ck_assert(cgroup_is_delegated(top, "/payload"));
	ck_assert(!cgroup_is_delegated(top, "/system.slice/ssh.service"));
	ck_assert(!cgroup_is_delegated(top, "/user.slice"));
	ck_assert(!cgroup_is_delegated(top, "/user.slice/session-3.scope"));
	ck_assert_int_eq(unlinkat(top, "cgroup.procs", 0), 0);
	ck_assert(!cgroup_is_delegated(top, "/payload"));
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("cgroup");
	TCase *tc = tcase_create("cgroup");

	tcase_add_checked_fixture(tc, make_directory, remove_directory);
	tcase_add_test(tc, populated_comes_from_cgroup_events);
	tcase_add_test(tc, invisible_processes_are_skipped);
	tcase_add_test(tc, all_of_many_processes_are_listed);
	tcase_add_test(tc, controllers_are_whole_words);
	tcase_add_test(tc, links_are_not_followed);
	tcase_add_test(tc, names_that_are_too_long_are_refused);
	tcase_add_test(tc, names_are_as_long_as_there_is_room);
	tcase_add_test(tc, a_tree_is_removed_from_its_leaves);
	tcase_add_test(tc, a_plain_directory_is_not_a_group);
	tcase_add_test(tc, a_group_out_of_sight_is_not_found);
	tcase_add_test(tc, without_a_descriptor_no_group_is_opened);
	tcase_add_test(tc, descriptor_0_is_as_good_as_any_other);
	tcase_add_test(tc, file_of_a_group_is_written_and_its_beginning_read);
	tcase_add_test(tc, groups_directly_below_are_listed);
	tcase_add_test(tc, only_the_group_of_the_machine_has_no_type);
	tcase_add_test(tc, a_unit_is_used_if_it_was_delegated);
	suite_add_tcase(s, tc);
	return s;
}
