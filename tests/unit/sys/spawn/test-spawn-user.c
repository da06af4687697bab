#include "tests/unit/fixtures/main.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/fixtures/spawned.h"

/* Any number: no entry in the system's databases is needed. */
#define USER  12345
#define GROUP 23456

static void check_ids(const struct spawned *s, const char *name, unsigned id)
{
	char text[SPAWNED_FIELD_MAX], wanted[SPAWNED_FIELD_MAX];

	(void)snprintf(wanted, sizeof(wanted), "%u\t%u\t%u\t%u", id, id, id, id);
	ck_assert_str_eq(spawned_field(text, s, name), wanted);
}

static void check_groups(const struct spawned *s, const char *wanted)
{
	char text[SPAWNED_FIELD_MAX];

	spawned_field(text, s, "Groups");
	text[strcspn(text, "\n")] = '\0';
	ck_assert_msg(strncmp(text, wanted, strlen(wanted)) == 0 &&
			      strspn(text + strlen(wanted), " ") == strlen(text + strlen(wanted)),
		      "'%s', not '%s'", text, wanted);
}

static void check_failure(const struct spawn_spec *spec, enum spawn_step step, int error)
{
	struct spawn_failure failure = { 0 };
	pid_t pid;

	ck_assert_int_eq(spawn(spec, &pid, &failure), SPAWN_E_CHILD);
	ck_assert_int_eq(failure.step, step);
	ck_assert_int_eq(failure.error, error);
	ck_assert_int_gt(waitpid(-1, NULL, 0), 0);
}

static void be_user(struct spawned *s, uid_t uid)
{
	static const gid_t groups[] = { 5, 7 };

	spawned_init(s);
	s->spec.set_user = true;
	s->spec.uid = uid;
	s->spec.gid = GROUP;
	s->spec.groups = groups;
	s->spec.n_groups = 2;
}

START_TEST(a_user_is_taken_with_group_and_groups)
{
	struct spawned s;

	be_user(&s, USER);
	spawned_start(&s);
	check_ids(&s, "Uid", USER);
	check_ids(&s, "Gid", GROUP);
	check_groups(&s, "5 7");
	ck_assert_uint_eq(spawned_number(&s, "CapEff", 16), 0);
	spawned_done(&s);
}
END_TEST

START_TEST(a_group_alone_comes_without_others)
{
	struct spawned s;

	spawned_init(&s);
	s.spec.set_group = true;
	s.spec.gid = GROUP;
	spawned_start(&s);
	check_ids(&s, "Uid", 0);
	check_ids(&s, "Gid", GROUP);
	check_groups(&s, "");
	spawned_done(&s);
}
END_TEST

START_TEST(groups_may_come_alone_or_with_a_group)
{
	static const gid_t groups[] = { 5, 7 };
	struct spawned s;

	for (int with_group = 0; with_group < 2; with_group++) {
		spawned_init(&s);
		s.spec.set_groups = true;
		s.spec.groups = groups;
		s.spec.n_groups = 2;
		s.spec.set_group = with_group;
		s.spec.gid = GROUP;
		spawned_start(&s);
		check_ids(&s, "Uid", 0);
		check_ids(&s, "Gid", with_group ? GROUP : 0);
		check_groups(&s, "5 7");
		spawned_done(&s);
	}
}
END_TEST

START_TEST(without_either_nothing_changes)
{
	gid_t ours[] = { 11, 13 };
	struct spawned s;

	ck_assert_int_eq(setgroups(2, ours), 0);
	spawned_init(&s);
	spawned_start(&s);
	check_ids(&s, "Uid", 0);
	check_groups(&s, "11 13");
	spawned_done(&s);
}
END_TEST

START_TEST(the_directory_is_entered_as_the_user)
{
	char directory[] = "/tmp/test-spawn-user.XXXXXX";
	struct spawned s;

	ck_assert_ptr_nonnull(mkdtemp(directory)); /* 0700 and ours */
	be_user(&s, USER);
	s.spec.directory = directory;
	check_failure(&s.spec, SPAWN_STEP_DIRECTORY, EACCES);
	ck_assert_int_eq(chown(directory, USER, GROUP), 0);
	spawned_start(&s);
	spawned_done(&s);
	ck_assert_int_eq(rmdir(directory), 0);
}
END_TEST

/* Never as another user, above all not as root. */
START_TEST(nothing_starts_without_the_right_to_change_user)
{
	struct spawned s;

	ck_assert_int_eq(setgroups(0, NULL), 0);
	ck_assert_int_eq(setresuid(USER, USER, USER), 0);
	be_user(&s, USER + 1);
	check_failure(&s.spec, SPAWN_STEP_GROUPS, EPERM);
	spawned_done(&s);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("spawn-user");
	TCase *tc = tcase_create("spawn-user");

	if (geteuid() != 0) {
		(void)puts("1..0 # SKIP machine: not root");
		exit(EXIT_SUCCESS);
	}
	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, spawned_setup, NULL);
	tcase_add_test(tc, a_user_is_taken_with_group_and_groups);
	tcase_add_test(tc, a_group_alone_comes_without_others);
	tcase_add_test(tc, groups_may_come_alone_or_with_a_group);
	tcase_add_test(tc, without_either_nothing_changes);
	tcase_add_test(tc, the_directory_is_entered_as_the_user);
	tcase_add_test(tc, nothing_starts_without_the_right_to_change_user);
	suite_add_tcase(s, tc);
	return s;
}
