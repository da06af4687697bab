/* Control groups of services: their limits, and the watch for the end of their processes. */
#include "tests/unit/fixtures/daemon/groups.h"
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/cgroup/control-group.h"
#include "daemon/tree/build.h"

#define LIMITS \
	"cgroup-memory-max = 100M\ncgroup-memory-high = 80M\ncgroup-pids-max = infinity\n" \
	"cgroup-cpu-weight = 50\ncgroup-io-weight = 70\n"

static struct log memory_log = { .level = LOG_DEBUG, .name = "test" };
static struct control_group *web, *db;
static unsigned changes_of_web, changes_of_db;

static void on_change(struct cgroup_watch *watch)
{
	changes_of_web += watch == &web->watch;
	changes_of_db += db && watch == &db->watch;
}

static void begin_groups(const char *text)
{
	make_directory();
	begin_with(load(text));
	memory_log.fd = memfd_create("log", MFD_CLOEXEC);
	ck_assert_int_ge(memory_log.fd, 0);
	ctx.log = &memory_log;
	groups_begin(&ctx);
	web = &service("web")->group;
	ctx.cgroups->changed = on_change;
	changes_of_web = changes_of_db = 0;
}

static void end_groups(void)
{
	tree_done(&tree);
	groups_end(&ctx);
	context_done(&ctx);
	(void)close(memory_log.fd);
	remove_directory();
}

static bool is_logged(const char *text)
{
	static char all[4096];
	ssize_t n = pread(memory_log.fd, all, sizeof(all) - 1, 0);

	all[n > 0 ? n : 0] = '\0';
	return strstr(all, text);
}

static void expect_open(struct control_group *group)
{
	int fd = control_group_open(group);

	ck_assert_int_ge(fd, 0);
	(void)close(fd);
	ck_assert(group->exists);
}

/* --- limits --- */

START_TEST(group_gets_the_limits_of_its_service)
{
	begin_groups("[web]\ncommand = x\n" LIMITS);
	group_make("node:web");
	group_write("node:web", "memory.max", "");
	group_write("node:web", "pids.max", "");
	group_write("node:web", "cpu.weight", "");
	expect_open(web);
	ck_assert_str_eq(group_read("node:web", "memory.max"), "104857600");
	ck_assert_str_eq(group_read("node:web", "pids.max"), "max");
	ck_assert_str_eq(group_read("node:web", "cpu.weight"), "50");
	ck_assert(!is_logged("cannot set"));
	end_groups();
}
END_TEST

/* control_group_use() has warned of a controller that is missing. */
START_TEST(missing_controller_is_not_reported_at_each_start)
{
	begin_groups("[web]\ncommand = x\n" LIMITS);
	expect_open(web);
	ck_assert(!is_logged("cannot set"));
	end_groups();
}
END_TEST

START_TEST(refused_limit_is_reported_and_the_others_are_set)
{
	begin_groups("[web]\ncommand = x\n" LIMITS);
	group_make("node:web");
	group_make("node:web/memory.max"); /* it cannot be written */
	group_write("node:web", "pids.max", "");
	expect_open(web);
	ck_assert(is_logged("web: cannot set cgroup-memory-max: Is a directory"));
	ck_assert(!is_logged("cannot set cgroup-pids-max"));
	ck_assert_str_eq(group_read("node:web", "pids.max"), "max");
	end_groups();
}
END_TEST

START_TEST(limits_that_are_not_set_stay_as_they_are)
{
	begin_groups("[web]\ncommand = x\n");
	group_make("node:web");
	group_write("node:web", "memory.max", "5");
	group_write("node:web", "pids.max", "6");
	group_write("node:web", "cpu.weight", "7");
	expect_open(web);
	ck_assert_str_eq(group_read("node:web", "memory.max"), "5");
	ck_assert_str_eq(group_read("node:web", "pids.max"), "6");
	ck_assert_str_eq(group_read("node:web", "cpu.weight"), "7");
	end_groups();
}
END_TEST

START_TEST(limits_change_in_a_group_with_processes)
{
	static const char *const files[] = { "memory.max", "memory.high", "pids.max", "cpu.weight", "io.weight" };
	cleanup(config_unrefp) struct config *next = NULL;

	begin_groups("[web]\ncommand = x\n" LIMITS);
	group_make("node:web");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		group_write("node:web", files[i], "");
	expect_open(web);
	ck_assert_str_eq(group_read("node:web", "io.weight"), "70");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		group_write("node:web", files[i], "");
	group_write("node:web", "memory.high", "as it is");
	next = load("[web]\ncommand = x\ncgroup-memory-max = infinity\ncgroup-memory-high = 80M\n"
		    "cgroup-pids-max = 9\n");
	control_group_use(web, config_find(next, "web"));
	ck_assert_str_eq(group_read("node:web", "memory.max"), "max");
	ck_assert_str_eq(group_read("node:web", "memory.high"), "as it is");
	ck_assert_str_eq(group_read("node:web", "pids.max"), "9");
	ck_assert_str_eq(group_read("node:web", "cpu.weight"), "100");
	ck_assert_str_eq(group_read("node:web", "io.weight"), "100");
	end_groups();
}
END_TEST

START_TEST(limit_enables_its_controller_or_is_reported)
{
	begin_groups("[web]\ncommand = x\ncgroup-memory-max = 1M\ncgroup-pids-max = 5\n");
	write_file("cgroup.controllers", "cpu memory\n", 11);
	write_file("cgroup.subtree_control", "", 0);
	group_write(".", "cgroup.subtree_control", "");
	control_group_use(web, web->config);
	ck_assert(is_logged("cgroup-pids-max has no effect: this control group has no controller"));
	ck_assert(!is_logged("cgroup-memory-max"));
	ck_assert_str_eq(group_read("..", "cgroup.subtree_control"), "+memory");
	ck_assert_str_eq(group_read(".", "cgroup.subtree_control"), "+memory");
	end_groups();
}
END_TEST

START_TEST(controller_that_is_enabled_stays_so)
{
	begin_groups("[web]\ncommand = x\ncgroup-memory-max = 1M\n");
	group_write(".", "cgroup.subtree_control", "cpu memory\n");
	control_group_use(web, web->config);
	ck_assert(!is_logged("has no effect"));
	ck_assert_str_eq(group_read(".", "cgroup.subtree_control"), "cpu memory\n");
	end_groups();
}
END_TEST

/* --- watches --- */

static void note_process(pid_t pid, void *arg)
{
	ck_assert_int_eq(pid, 77);
	++*(unsigned *)arg;
}

static void begin_watched(void)
{
	unsigned n = 0;

	begin_groups("[web]\ncommand = x\n[db]\ncommand = x\n");
	db = &service("db")->group;
	expect_open(web);
	expect_open(db);
	group_write("node:web", "cgroup.procs", "77\n");
	group_write("node:web", "cgroup.events", "populated 1\n");
	group_write("node:db", "cgroup.procs", "");
	group_write("node:db", "cgroup.events", "populated 0\n");
	control_group_watch(web, note_process, &n);
	control_group_watch(db, note_process, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert(control_group_is_populated(web));
	ck_assert(!control_group_is_populated(db));
}

static void run_loop(void)
{
	while (sd_event_run(ctx.event, 0) > 0)
		;
}

START_TEST(change_of_a_group_is_noticed_by_its_service)
{
	begin_watched();
	run_loop();
	ck_assert_uint_eq(changes_of_web, 0);
	group_write("node:web", "cgroup.events", "populated 0\n");
	run_loop();
	ck_assert_uint_ge(changes_of_web, 1);
	ck_assert_uint_eq(changes_of_db, 0);
	changes_of_web = 0;
	group_write("node:db", "cgroup.events", "populated 1\n");
	run_loop();
	ck_assert_uint_eq(changes_of_web, 0);
	ck_assert_uint_ge(changes_of_db, 1);
	end_groups();
}
END_TEST

START_TEST(next_start_ends_the_watch)
{
	begin_watched();
	expect_open(web);
	group_write("node:web", "cgroup.events", "populated 0\n");
	run_loop();
	ck_assert_uint_eq(changes_of_web, 0);
	end_groups();
}
END_TEST

/* Linux merges equal events in a row, so two groups change in turn. */
static void overflow(unsigned n)
{
	static struct cgroup_watch watches[2];
	int fds[2];

	for (int i = 0; i < 2; i++) {
		char name[] = "node:0", path[64];

		name[5] += (char)i;
		group_make(name);
		group_write(name, "cgroup.events", "");
		(void)snprintf(path, sizeof(path), "%s/cgroup.events", name);
		fds[i] = openat(ctx.cgroups->top, path, O_WRONLY | O_CLOEXEC);
		ck_assert_int_ge(fds[i], 0);
		watches[i] = (struct cgroup_watch){ .id = 0 };
		list_init(&watches[i].in_watches);
		ck_assert_int_eq(cgroups_watch(ctx.cgroups, name, &watches[i]), 0);
	}
	while (n-- > 0)
		ck_assert_int_eq(pwrite(fds[n % 2], "x", 1, 0), 1);
	run_loop();
	for (int i = 0; i < 2; i++) {
		(void)close(fds[i]);
		cgroups_unwatch(ctx.cgroups, &watches[i]);
	}
}

/* Returns the number of events that are kept for a descriptor; 0: not known. */
static unsigned events_max(void)
{
	int fd = open("/proc/sys/fs/inotify/max_queued_events", O_RDONLY | O_CLOEXEC);
	char text[24] = "";

	if (fd >= 0) {
		ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
		(void)close(fd);
	}
	return (unsigned)strtoul(text, NULL, 10);
}

START_TEST(each_service_looks_at_its_group_after_an_overflow)
{
	unsigned n = events_max();

	if (n == 0 || n > 100000) {
		(void)puts("# SKIP machine: the queue of inotify is too long to overflow");
		return;
	}
	begin_watched();
	overflow(n / 2);
	ck_assert_uint_eq(changes_of_web + changes_of_db, 0);
	end_groups();
	begin_watched();
	overflow(n + 1);
	ck_assert_uint_ge(changes_of_web, 1);
	ck_assert_uint_ge(changes_of_db, 1);
	end_groups();
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("groups");
	TCase *tc = tcase_create("groups");

	tcase_add_test(tc, group_gets_the_limits_of_its_service);
	tcase_add_test(tc, missing_controller_is_not_reported_at_each_start);
	tcase_add_test(tc, refused_limit_is_reported_and_the_others_are_set);
	tcase_add_test(tc, limits_that_are_not_set_stay_as_they_are);
	tcase_add_test(tc, limits_change_in_a_group_with_processes);
	tcase_add_test(tc, limit_enables_its_controller_or_is_reported);
	tcase_add_test(tc, controller_that_is_enabled_stays_so);
	tcase_add_test(tc, change_of_a_group_is_noticed_by_its_service);
	tcase_add_test(tc, next_start_ends_the_watch);
	tcase_add_test(tc, each_service_looks_at_its_group_after_an_overflow);
	suite_add_tcase(s, tc);
	return s;
}
