#include "main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawned.h"

static void check_failure(const struct spawn_spec *spec, enum spawn_step step, int error)
{
	struct spawn_failure failure = { 0 };
	pid_t pid;
	int pidfd;

	ck_assert_int_eq(spawn(spec, &pid, &pidfd, &failure), SPAWN_E_CHILD);
	ck_assert_msg(failure.step == step && failure.error == error, "cannot %s: %s",
		      spawn_step_text(failure.step), strerror(failure.error));
	ck_assert_int_gt(waitpid(-1, NULL, 0), 0);
}

static struct attributes attributes;

static void init(struct spawned *s)
{
	attributes_init(&attributes);
	spawned_init(s);
	s->spec.attributes = &attributes;
}

START_TEST(of_nothing_asked_for_nothing_changes)
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
	spawned_done(&s);
}
END_TEST

/* Each alone, below what we have: soft and hard arrive, and ours stay. */
START_TEST(a_limit_is_the_childs_alone)
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

START_TEST(a_limit_that_cannot_be_is_named)
{
	struct spawn_failure failure = { 0 };
	struct spawned s;
	pid_t pid;
	int pidfd;

	init(&s);
	/* Beyond fs.nr_open nobody may have descriptors. */
	attributes.limits[RLIMIT_NOFILE] =
		(struct rlimit){ .rlim_cur = 100, .rlim_max = 2000000000 };
	check_failure(&s.spec, SPAWN_STEP_LIMIT, EPERM);
	ck_assert_int_eq(spawn(&s.spec, &pid, &pidfd, &failure), SPAWN_E_CHILD);
	ck_assert_int_eq(failure.limit, RLIMIT_NOFILE);
	ck_assert_int_gt(waitpid(-1, NULL, 0), 0);
	spawned_done(&s);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("spawn-attributes");
	TCase *tc = tcase_create("spawn-attributes");

	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, spawned_setup, NULL);
	tcase_add_test(tc, of_nothing_asked_for_nothing_changes);
	tcase_add_loop_test(tc, a_limit_is_the_childs_alone, 0, RLIM_NLIMITS);
	tcase_add_test(tc, a_limit_that_cannot_be_is_named);
	suite_add_tcase(s, tc);
	return s;
}
