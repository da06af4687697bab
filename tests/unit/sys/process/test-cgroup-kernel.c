#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/unit/fixtures/spawned.h"
#include "sys/process/cgroup.h"

/* In a group of the test, below its current group. */
static char own_path[CGROUP_PATH_MAX], name[64];
static int own;

static bool open_own(void)
{
	if (cgroup_of(getpid(), own_path) < 0)
		return false;
	own = cgroup_open(own_path);
	return own >= 0 && cgroup_is_delegated(own, own_path);
}

static void make_group(void)
{
	struct timespec now;

	spawned_setup();
	/* Another pid namespace may use the same pid. */
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	(void)snprintf(name, sizeof(name), "test-cgroup.%d.%ld", (int)getpid(), now.tv_nsec);
	ck_assert_int_eq(cgroup_make(own, name), 0);
}

static void remove_group(void)
{
	(void)cgroup_kill(own, name);
	for (int i = 0; i < 5000 && cgroup_remove(own, name) == -EBUSY; i++)
		(void)usleep(1000);
}

static void add_pid(pid_t pid, void *arg)
{
	*(long *)arg += pid;
}

static void start_inside(struct spawned *s)
{
	char path[CGROUP_PATH_MAX], expected[CGROUP_PATH_MAX + 128];
	long sum = 0;

	spawned_init(s);
	s->spec.cgroup = cgroup_open_below(own, name);
	ck_assert_int_ge(s->spec.cgroup, 0);
	spawned_start(s);
	(void)close(s->spec.cgroup);

	ck_assert_int_eq(cgroup_of(s->pid, path), 0);
	(void)snprintf(expected, sizeof(expected), "%s/%s",
		       strcmp(own_path, "/") == 0 ? "" : own_path, name);
	ck_assert_str_eq(path, expected);
	ck_assert_int_eq(cgroup_is_populated(own, name), 1);
	ck_assert_int_eq(cgroup_processes(own, name, add_pid, &sum), 0);
	ck_assert_int_eq(sum, s->pid);
	/* Nothing else that it was not given. */
	ck_assert_uint_eq(spawned_count_descriptors(s->pid), 3);
}

START_TEST(a_process_starts_in_its_group)
{
	struct spawned s;

	start_inside(&s);
	ck_assert_int_eq(cgroup_remove(own, name), -EBUSY);
	spawned_done(&s);
}
END_TEST

START_TEST(in_a_sandbox_the_child_enters_its_group)
{
	struct sock_filter program[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = ARRAY_SIZE(program), .filter = program };
	struct spawned s;

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
	start_inside(&s);
	spawned_done(&s);
}
END_TEST

START_TEST(a_signal_reaches_only_processes_of_the_group)
{
	char path[CGROUP_PATH_MAX];
	struct spawned s;
	int status;

	start_inside(&s);
	ck_assert_int_eq(cgroup_of(s.pid, path), 0);
	cgroup_signal(s.pid, own_path, SIGKILL);
	cgroup_signal(s.pid, path, SIGTERM);
	ck_assert_int_eq(waitpid(s.pid, &status, 0), s.pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	s.pid = 0;
	spawned_done(&s);
}
END_TEST

START_TEST(frozen_processes_are_killed)
{
	struct spawned s;
	int status;

	start_inside(&s);
	ck_assert_int_eq(cgroup_write(own, name, "cgroup.freeze", "1"), 0);
	ck_assert_int_eq(cgroup_kill(own, name), 0);
	ck_assert_int_eq(waitpid(s.pid, &status, 0), s.pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	s.pid = 0;
	spawned_done(&s);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("cgroup-kernel");
	TCase *tc = tcase_create("cgroup-kernel");

	if (!open_own()) {
		(void)puts("1..0 # SKIP machine: no control group of version 2 to divide");
		exit(EXIT_SUCCESS);
	}
	tcase_add_checked_fixture(tc, make_group, remove_group);
	tcase_add_test(tc, a_process_starts_in_its_group);
	tcase_add_test(tc, in_a_sandbox_the_child_enters_its_group);
	tcase_add_test(tc, a_signal_reaches_only_processes_of_the_group);
	tcase_add_test(tc, frozen_processes_are_killed);
	suite_add_tcase(s, tc);
	return s;
}
