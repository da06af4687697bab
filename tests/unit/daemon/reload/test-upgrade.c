#include "tests/unit/fixtures/daemon/tree-world.h"

/* The moment at which a new program, which has rehearsed, replaces this one. */

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/loop/roster.h"
#include "daemon/reload/upgrade.h"
#include "sys/spawn/crash.h"

static struct upgrade upgrade;
static unsigned replaced;

/* The kernel refuses it: else there is no way back to the test. */
int __wrap_crash_replace(int program, const char *version);
int __wrap_crash_replace(int program, const char *version)
{
	ck_assert_int_eq(program, upgrade.program);
	ck_assert_str_eq(version, PACKAGE_VERSION);
	replaced++;
	return -ENOEXEC;
}

static void rehearsed(void)
{
	upgrade.state = UPGRADE_REHEARSED;
	upgrade.program = dup(STDERR_FILENO);
	ck_assert_int_ge(upgrade.program, 0);
	alarm_set(&ctx.alarms, &upgrade.alarm, clock_add(clock_now_usec(), UPGRADE_TIMEOUT_USEC));
	upgrade_carry_out(&upgrade);
}

/* Without a roster no process would go on, so each is awaited. */
static void begin_upgrade(const char *text, bool with_roster)
{
	const struct crash_history former = { .reason = CRASH_NONE };

	replaced = 0;
	begin_with(load(text));
	if (with_roster)
		ck_assert_int_eq(roster_new(&ctx.roster, memfd_create("roster", MFD_CLOEXEC)), 0);
	turns();
	upgrade_init(&upgrade, &tree, &former);
	ck_assert_int_eq(upgrade.state, UPGRADE_NONE);
}

static void end_upgrade(void)
{
	struct roster *roster = ctx.roster;

	upgrade_done(&upgrade);
	finish();
	(void)roster_free(roster);
}

START_TEST(program_is_replaced_at_once_if_all_goes_on)
{
	begin_upgrade("[web]\ncommand = x\n", true);
	expect("web up");
	rehearsed();
	ck_assert_uint_eq(replaced, 1);
	ck_assert_int_eq(upgrade.state, UPGRADE_REFUSED);
	ck_assert_str_eq(upgrade.text, "the new program cannot be executed: Exec format error");
	ck_assert_int_eq(upgrade.program, -1);
	end_upgrade();
}
END_TEST

START_TEST(upgrade_goes_on_when_the_service_has_ended)
{
	begin_upgrade("[web]\ncommand = x\nrestart = never\n", false);
	rehearsed();
	ck_assert_uint_eq(replaced, 0);
	ends("web", 0);
	upgrade_carry_out(&upgrade);
	ck_assert_uint_eq(replaced, 1);
	end_upgrade();
}
END_TEST

START_TEST(upgrade_waits_for_a_command_around_a_service)
{
	begin_upgrade("[web]\ncommand = x\nstart-command = y\n", true);
	expect("web preparing");
	rehearsed();
	ck_assert_uint_eq(replaced, 0);
	hook_ends("web", 0);
	expect("web up");
	upgrade_carry_out(&upgrade);
	ck_assert_uint_eq(replaced, 1);
	end_upgrade();
}
END_TEST

START_TEST(upgrade_is_refused_when_its_time_is_over)
{
	begin_upgrade(_i == 0 ? "[web]\ncommand = x\n" : "[web]\ncommand = x\nstart-command = y\n",
		      _i > 0);
	rehearsed();
	ck_assert_int_eq(upgrade.state, UPGRADE_REHEARSED);
	pass(UPGRADE_TIMEOUT_USEC);
	upgrade_carry_out(&upgrade);
	ck_assert_uint_eq(replaced, 0);
	ck_assert_int_eq(upgrade.state, UPGRADE_REFUSED);
	ck_assert_str_eq(upgrade.text, "web is starting or stopping");
	ck_assert_int_eq(upgrade.program, -1);
	end_upgrade();
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("upgrade");
	TCase *tc = tcase_create("upgrade");

	tcase_add_test(tc, program_is_replaced_at_once_if_all_goes_on);
	tcase_add_test(tc, upgrade_goes_on_when_the_service_has_ended);
	tcase_add_test(tc, upgrade_waits_for_a_command_around_a_service);
	tcase_add_loop_test(tc, upgrade_is_refused_when_its_time_is_over, 0, 2);
	suite_add_tcase(s, tc);
	return s;
}
