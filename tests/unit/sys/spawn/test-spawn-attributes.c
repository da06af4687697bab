#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/macro.h"
#include "tests/unit/fixtures/spawned.h"

static void check_failure(const struct spawn_spec *spec, enum spawn_step step, int error)
{
	struct spawn_failure failure = { 0 };
	pid_t pid;

	ck_assert_int_eq(spawn(spec, &pid, &failure), SPAWN_E_CHILD);
	ck_assert_msg(failure.step == step && failure.error == error, "cannot %s: %s",
		      spawn_step_text(failure.step), strerror(failure.error));
	ck_assert_int_gt(waitpid(-1, NULL, 0), 0);
}

static struct attributes attributes;

static void init(struct spawned *s)
{
	attributes = (struct attributes)ATTRIBUTES_NONE;
	spawned_init(s);
	s->spec.attributes = &attributes;
}

static int oom_score_adjust_of(pid_t pid)
{
	char path[64], text[16] = "";
	FILE *file;

	(void)snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	(void)fclose(file);
	return atoi(text);
}

static int io_priority_of(pid_t pid)
{
	return (int)syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, pid);
}

START_TEST(without_attributes_nothing_changes)
{
	struct rlimit ours, its;
	struct spawned s;

	init(&s);
	spawned_start(&s);
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		ck_assert_int_eq(getrlimit((__rlimit_resource_t)i, &ours), 0);
		ck_assert_int_eq(prlimit(s.pid, (__rlimit_resource_t)i, NULL, &its), 0);
		ck_assert_int_eq(memcmp(&ours, &its, sizeof(ours)), 0);
	}
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)s.pid), getpriority(PRIO_PROCESS, 0));
	ck_assert_int_eq(oom_score_adjust_of(s.pid), oom_score_adjust_of(getpid()));
	ck_assert_int_eq(io_priority_of(s.pid), io_priority_of(0));
	spawned_done(&s);
}
END_TEST

/* Each limit alone, below the current one: soft and hard arrive, and the parent's limits stay. */
START_TEST(limits_apply_only_to_the_child)
{
	__rlimit_resource_t resource = (__rlimit_resource_t)_i;
	struct rlimit ours, wanted, got;
	struct spawned s;

	init(&s);
	ck_assert_int_eq(getrlimit(resource, &ours), 0);
	wanted = ours;
	if (wanted.rlim_max > (rlim_t)1 << 40)
		wanted.rlim_max = (rlim_t)1 << 40;
	wanted.rlim_cur = wanted.rlim_max - wanted.rlim_max / 4;
	attributes.limits[_i] = wanted;
	spawned_start(&s);
	ck_assert_int_eq(prlimit(s.pid, resource, NULL, &got), 0);
	ck_assert_uint_eq(got.rlim_cur, wanted.rlim_cur);
	ck_assert_uint_eq(got.rlim_max, wanted.rlim_max);
	ck_assert_int_eq(getrlimit(resource, &got), 0);
	ck_assert_int_eq(memcmp(&ours, &got, sizeof(ours)), 0);
	spawned_done(&s);
}
END_TEST

/*
 * The child shares the parent's memory at that time, but its priorities must not apply to the
 * parent.
 */
START_TEST(priorities_apply_only_to_the_child)
{
	int nice = getpriority(PRIO_PROCESS, 0), oom = oom_score_adjust_of(getpid()),
	    io = io_priority_of(0);
	struct spawned s;

	init(&s);
	attributes.nice = 19;
	attributes.oom_score_adjust = 1000;
	attributes.io_priority = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 6);
	spawned_start(&s);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)s.pid), 19);
	ck_assert_int_eq(oom_score_adjust_of(s.pid), 1000);
	ck_assert_int_eq(io_priority_of(s.pid), IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 6));
	ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), nice);
	ck_assert_int_eq(oom_score_adjust_of(getpid()), oom);
	ck_assert_int_eq(io_priority_of(0), io);
	spawned_done(&s);
}
END_TEST

START_TEST(the_child_runs_on_its_processors)
{
	cpu_set_t ours, got;
	struct spawned s;
	int last = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(ours), &ours), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &ours))
			last = cpu;
	init(&s);
	CPU_SET(last, &attributes.cpus);
	CPU_SET(CPU_SETSIZE - 1, &attributes.cpus); /* there is none such */
	spawned_start(&s);
	ck_assert_int_eq(sched_getaffinity(s.pid, sizeof(got), &got), 0);
	ck_assert_int_eq(CPU_COUNT(&got), 1);
	ck_assert(CPU_ISSET(last, &got));
	ck_assert_int_eq(sched_getaffinity(0, sizeof(got), &got), 0);
	ck_assert(CPU_EQUAL(&got, &ours));
	spawned_done(&s);
}
END_TEST

/* The descriptors are few, and the others need one. */
START_TEST(limits_are_set_last)
{
	struct spawned s;

	init(&s);
	attributes.oom_score_adjust = 1000;
	attributes.limits[RLIMIT_NOFILE] = (struct rlimit){ .rlim_cur = 3, .rlim_max = 3 };
	s.spec.argv = spawned_words("sh", "-c", "exit 0");
	ck_assert_int_eq(spawned_run(&s.spec), 127); /* sh finds no room for its libraries */
	spawned_done(&s);
}
END_TEST

START_TEST(an_impossible_attribute_is_reported)
{
	struct spawned s;

	init(&s);
	attributes.oom_score_adjust = 1001;
	check_failure(&s.spec, SPAWN_STEP_OOM_SCORE, EINVAL);
	attributes.oom_score_adjust = ATTRIBUTE_KEEP;
	attributes.io_priority = IOPRIO_PRIO_VALUE(7, 7);
	check_failure(&s.spec, SPAWN_STEP_IO_CLASS, EINVAL);
	attributes.io_priority = ATTRIBUTE_KEEP;
	CPU_SET(CPU_SETSIZE - 1, &attributes.cpus);
	check_failure(&s.spec, SPAWN_STEP_CPUS, EINVAL);
	spawned_done(&s);
}
END_TEST

START_TEST(limits_are_not_raised_without_privileges)
{
	struct spawn_failure failure = { 0 };
	struct spawned s;

	if (geteuid() == 0)
		ck_assert_int_eq(setresuid(12345, 12345, 12345), 0);
	init(&s);
	attributes.io_priority = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 0);
	check_failure(&s.spec, SPAWN_STEP_IO_CLASS, EPERM);
	attributes.io_priority = ATTRIBUTE_KEEP;
	attributes.nice = -20;
	ck_assert_int_eq(spawn(&s.spec, &s.pid, &failure), 0);
	ck_assert_uint_eq(failure.lowered, SPAWN_NICE_KEPT);
	ck_assert_int_eq(getpriority(PRIO_PROCESS, (id_t)s.pid), getpriority(PRIO_PROCESS, 0));
	spawned_done(&s);
}
END_TEST

START_TEST(the_child_gets_no_new_privileges)
{
	struct spawned s;

	init(&s);
	attributes.no_new_privileges = 1;
	spawned_start(&s);
	ck_assert_uint_eq(spawned_number(&s, "NoNewPrivs", 10), 1);
	ck_assert_int_eq(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 0);
	spawned_done(&s);
}
END_TEST

static void check_capabilities(const struct spawned *s, uint64_t wanted)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb" };

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		ck_assert_msg(spawned_number(s, sets[i], 16) == wanted, "%s is %llx", sets[i],
			      spawned_number(s, sets[i], 16));
}

/* Returns true if the test has the capabilities that it passes on. */
static bool may_set_capabilities(void)
{
	return geteuid() == 0 && prctl(PR_CAPBSET_READ, CAP_SETPCAP, 0, 0, 0) == 1 &&
	       prctl(PR_CAPBSET_READ, CAP_KILL, 0, 0, 0) == 1 &&
	       prctl(PR_CAPBSET_READ, CAP_NET_BIND_SERVICE, 0, 0, 0) == 1;
}

/* The same in every set, of root and of another, with and without NO_NEW_PRIVS. */
START_TEST(the_child_has_exactly_its_capabilities)
{
	static const uint64_t sets[] = { 0, 1 << CAP_KILL | 1 << CAP_NET_BIND_SERVICE };
	struct spawned s;

	init(&s);
	attributes.capabilities = sets[_i & 1];
	attributes.no_new_privileges = _i >> 1 & 1;
	s.spec.set_user = _i >> 2 & 1;
	s.spec.uid = 12345;
	s.spec.gid = 12345;
	spawned_start(&s);
	check_capabilities(&s, attributes.capabilities);
	ck_assert_int_eq(prctl(PR_CAPBSET_READ, CAP_SETPCAP, 0, 0, 0), 1);
	ck_assert_int_eq(prctl(PR_GET_KEEPCAPS, 0, 0, 0, 0), 0);
	spawned_done(&s);
}
END_TEST

START_TEST(a_missing_capability_cannot_be_passed_on)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	struct spawned s;

	init(&s);
	ck_assert_int_eq((int)syscall(SYS_capget, &header, data), 0);
	data[0].effective &= ~(1u << CAP_KILL);
	data[0].permitted &= ~(1u << CAP_KILL);
	ck_assert_int_eq((int)syscall(SYS_capset, &header, data), 0);
	attributes.capabilities = 1 << CAP_KILL;
	check_failure(&s.spec, SPAWN_STEP_CAPABILITIES, EPERM);
	/* Nor can any be taken away without the right to it. */
	data[0].effective &= ~(1u << CAP_SETPCAP);
	ck_assert_int_eq((int)syscall(SYS_capset, &header, data), 0);
	attributes.capabilities = 0;
	check_failure(&s.spec, SPAWN_STEP_CAPABILITIES, EPERM);
	spawned_done(&s);
}
END_TEST

/* Also in memory of its own, which a score makes. */
START_TEST(an_impossible_limit_is_lowered_and_reported)
{
	struct spawn_failure failure = { 0 };
	struct rlimit ours, got;
	struct spawned s;

	init(&s);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &ours), 0);
	/* No process may have descriptors beyond fs.nr_open. */
	attributes.limits[RLIMIT_NOFILE] =
		(struct rlimit){ .rlim_cur = 100, .rlim_max = 2000000000 };
	attributes.limits[RLIMIT_CORE] = (struct rlimit){ 0, 0 };
	if (_i == 1)
		attributes.oom_score_adjust = 1000;
	ck_assert_int_eq(spawn(&s.spec, &s.pid, &failure), 0);
	ck_assert_uint_eq(failure.lowered, 1U << RLIMIT_NOFILE);
	ck_assert_int_eq(prlimit(s.pid, RLIMIT_NOFILE, NULL, &got), 0);
	ck_assert_uint_eq(got.rlim_cur, 100);
	ck_assert_uint_eq(got.rlim_max, ours.rlim_max);
	spawned_done(&s);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("spawn-attributes");
	TCase *tc = tcase_create("spawn-attributes");

	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, spawned_setup, NULL);
	tcase_add_test(tc, without_attributes_nothing_changes);
	tcase_add_loop_test(tc, limits_apply_only_to_the_child, 0, RLIM_NLIMITS);
	tcase_add_loop_test(tc, an_impossible_limit_is_lowered_and_reported, 0, 2);
	tcase_add_test(tc, priorities_apply_only_to_the_child);
	tcase_add_test(tc, the_child_runs_on_its_processors);
	tcase_add_test(tc, limits_are_set_last);
	tcase_add_test(tc, an_impossible_attribute_is_reported);
	tcase_add_test(tc, limits_are_not_raised_without_privileges);
	tcase_add_test(tc, the_child_gets_no_new_privileges);
	if (may_set_capabilities()) {
		tcase_add_loop_test(tc, the_child_has_exactly_its_capabilities, 0, 8);
		tcase_add_test(tc, a_missing_capability_cannot_be_passed_on);
	} else {
		(void)puts("# SKIP machine: capabilities need root with cap_setpcap");
	}
	suite_add_tcase(s, tc);
	return s;
}
