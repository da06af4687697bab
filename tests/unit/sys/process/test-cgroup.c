#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	ck_assert_int_lt(cgroup_open("/there/is/no/such/group"), 0);
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
	tcase_add_test(tc, a_tree_is_removed_from_its_leaves);
	tcase_add_test(tc, a_plain_directory_is_not_a_group);
	tcase_add_test(tc, a_group_out_of_sight_is_not_found);
	tcase_add_test(tc, a_unit_is_used_if_it_was_delegated);
	suite_add_tcase(s, tc);
	return s;
}
