#include "tests/unit/fixtures/daemon/tree-world.h"

/* Services that are renewed because they have become large or old. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "daemon/cgroup/control-group.h"
#include "daemon/loop/closer.h"

#define MIB (UINT64_C(1024) * 1024)

static uint64_t counted;  /* by the control group; 0: not at all */
static unsigned children; /* of the daemon, which count in its place */

int __wrap_control_group_memory(const struct control_group *group, uint64_t *ret);
int __wrap_control_group_memory(const struct control_group *group, uint64_t *ret)
{
	(void)group;
	*ret = counted;
	return counted ? 0 : -ENOENT;
}

int __wrap_closer_call(struct closer *closer, int (*fn)(void *arg), void *arg);
int __wrap_closer_call(struct closer *closer, int (*fn)(void *arg), void *arg)
{
	(void)fn;
	(void)arg;
	children++;
	closer->process.alive = true;
	return 0;
}

static void child_ends(const char *path, int error)
{
	struct closer *closer = &service(path)->recycle->closer;

	closer->process.alive = false;
	closer->error = error;
	closer->ended(closer);
	turns();
}

START_TEST(old_service_is_renewed_within_the_last_tenth_of_its_age)
{
	begin("[a]\ncommand = x\nrecycle-age = 100s\n[b]\ncommand = x\n");
	pass(89 * SEC);
	expect("a up, b up");
	pass(12 * SEC);
	expect("a stopping, b up");
	ends("a", 0);
	expect("a up, b up");
	ck_assert_uint_eq(find("a")->generation, 2);
	ck_assert_uint_eq(service("a")->restarts, 0);
	pass(89 * SEC);
	expect("a up");
	pass(12 * SEC);
	expect("a stopping");
}
END_TEST

START_TEST(large_service_is_renewed)
{
	counted = 100 * MIB;
	begin("[a]\ncommand = x\nrecycle-memory = 100M\n");
	pass(60 * SEC);
	expect("a up");
	counted++;
	pass(31 * SEC);
	expect("a stopping");
	counted = 50 * MIB;
	ends("a", 0);
	pass(120 * SEC);
	expect("a up");
	ck_assert_uint_eq(children, 0);
}
END_TEST

START_TEST(child_counts_where_there_is_no_group)
{
	begin("[a]\ncommand = x\nrecycle-memory = 100M\n");
	ck_assert_uint_eq(children, 1);
	pass(31 * SEC);
	ck_assert_uint_eq(children, 1);
	child_ends("a", 0);
	expect("a up");
	pass(31 * SEC);
	ck_assert_uint_eq(children, 2);
	child_ends("a", EFBIG);
	expect("a stopping");
	ends("a", 0);
	expect("a up");
	child_ends("a", 0);
	pass(31 * SEC);
	expect("a up");
}
END_TEST

static unsigned count_stopping(void)
{
	unsigned n = 0;

	for (struct node *i = tree.root; i; i = node_next(i, tree.root))
		n += i->service && i->service->state == STATE_STOPPING;
	return n;
}

START_TEST(instances_of_a_template_are_renewed_one_after_another)
{
	begin("[w@]\ninstances = 3\ncommand = x\nready = notify\nstop-timeout = 1h\nrecycle-memory = 1M\n"
	      "[other]\ncommand = x\nrecycle-memory = 1M\n");
	for (unsigned i = 1; i <= 3; i++) {
		char path[8];

		(void)snprintf(path, sizeof(path), "w@%u", i);
		ready(path);
	}
	counted = 2 * MIB;
	pass(31 * SEC);
	ck_assert_uint_eq(count_stopping(), 2);
	expect("other stopping");
	counted = MIB;
	ends("other", 0);
	pass(60 * SEC);
	ck_assert_uint_eq(count_stopping(), 1);
}
END_TEST

START_TEST(instance_that_comes_up_is_waited_for)
{
	begin("[w@]\ninstances = 2\ncommand = x\nready = notify\nstart-timeout = 1h\nstop-timeout = 1h\nrecycle-age = 100s\n");
	ready("w@1");
	pass(150 * SEC);
	expect("w@1 up, w@2 starting");
	ready("w@2");
	pass(31 * SEC);
	ck_assert_uint_eq(count_stopping(), 1);
}
END_TEST

/* Each takes so long that two always wait. */
START_TEST(oldest_instance_is_renewed_first)
{
	static const char *const paths[] = { "w@1", "w@2", "w@3" };
	unsigned least = UINT_MAX, most = 0;

	begin("[w@]\ninstances = 3\ncommand = x\nstop-timeout = 1h\nrecycle-age = 100s\n");
	for (unsigned round = 0; round < 12; round++) {
		for (int i = 0; i < 120; i++)
			pass(SEC);
		ck_assert_uint_eq(count_stopping(), 1);
		for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
			if (service(paths[i])->state == STATE_STOPPING)
				ends(paths[i], 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		least = MIN(least, find(paths[i])->generation);
		most = MAX(most, find(paths[i])->generation);
	}
	ck_assert_uint_ge(least, 4);
	ck_assert_uint_le(most, least + 1);
}
END_TEST

START_TEST(nothing_is_renewed_in_a_shutdown)
{
	begin("[a]\ncommand = x\nrecycle-memory = 1M\nrecycle-age = 100s\n[b]\ncommand = x\nrequires = a\n");
	stop("");
	expect("a waiting, b stopping");
	counted = 2 * MIB;
	pass(5 * SEC);
	expect("a waiting");
	ends("b", 0);
	ends("a", 0);
	pass(200 * SEC);
	expect("a down, b down");
	ck_assert(tree.root->complete);
}
END_TEST

START_TEST(reload_changes_the_mark_at_once)
{
	begin("[a]\ncommand = x\n");
	counted = 2 * MIB;
	pass(200 * SEC);
	expect("a up");
	ck_assert_ptr_null(service("a")->recycle);
	reload("[a]\ncommand = x\nrecycle-memory = 3M\n");
	expect("a up");
	reload("[a]\ncommand = x\nrecycle-memory = 1M\n");
	expect("a stopping");
}
END_TEST

static void begin_test(void)
{
	counted = 0;
	children = 0;
}

Suite *test_suite(void)
{
	Suite *suite = suite_create("recycle");
	TCase *t = tree_case("recycle");

	tcase_add_checked_fixture(t, begin_test, NULL);
	tcase_add_test(t, old_service_is_renewed_within_the_last_tenth_of_its_age);
	tcase_add_test(t, large_service_is_renewed);
	tcase_add_test(t, child_counts_where_there_is_no_group);
	tcase_add_test(t, instances_of_a_template_are_renewed_one_after_another);
	tcase_add_test(t, instance_that_comes_up_is_waited_for);
	tcase_add_test(t, oldest_instance_is_renewed_first);
	tcase_add_test(t, nothing_is_renewed_in_a_shutdown);
	tcase_add_test(t, reload_changes_the_mark_at_once);
	suite_add_tcase(suite, t);
	return suite;
}
