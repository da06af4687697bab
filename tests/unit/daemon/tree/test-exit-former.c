/* The reason of a shutdown goes on after a fault of the daemon. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/loop/roster.h"
#include "daemon/tree/exit.h"

static int file;

static void begin_world(void)
{
	file = memfd_create("roster", MFD_CLOEXEC);
	begin("[web]\ncommand = x\n");
	ck_assert_int_eq(roster_new(&ctx.roster, file), 0);
}

/* The next image of the daemon has the tree as it was, and the roster. */
static int take_former(void)
{
	tree.ends.by_itself = tree.ends.given_up = tree.root->forced = false;
	ctx.roster = roster_free(ctx.roster);
	ck_assert_int_eq(roster_new(&ctx.roster, file), 0);
	return exit_take_former(&tree);
}

static void end_world(void)
{
	ctx.roster = roster_free(ctx.roster);
	(void)close(file);
	finish();
}

START_TEST(reason_of_a_shutdown_goes_on)
{
	stop("root");
	exit_enter(&tree, SIGTERM);
	ck_assert_int_eq(take_former(), SIGTERM);
	ck_assert_int_eq(exit_status_of_cause(&tree), -1);
	ck_assert(!tree.ends.by_itself && !tree.ends.given_up && !tree.root->forced);
}
END_TEST

START_TEST(each_change_of_the_reason_goes_on)
{
	stop("root");
	exit_enter(&tree, 0);
	tree.root->forced = _i == 0;
	tree.ends.by_itself = _i == 1;
	tree.ends.given_up = _i == 2;
	tree.ends.former = _i == 3 ? 0 : -1;
	exit_enter(&tree, 0);
	exit_enter(&tree, 0);
	ck_assert_int_eq(take_former(), 0);
	ck_assert_int_eq(tree.root->forced, _i == 0);
	ck_assert_int_eq(tree.ends.by_itself, _i == 1);
	ck_assert_int_eq(tree.ends.given_up, _i == 2);
	ck_assert_int_eq(exit_status_of_cause(&tree), _i == 3 ? 0 : -1);
}
END_TEST

START_TEST(tree_that_runs_has_no_reason)
{
	exit_enter(&tree, SIGTERM);
	stop("root");
	ck_assert_int_eq(take_former(), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("reason of a shutdown after a fault");
	TCase *tc = tcase_create("reason");

	tcase_add_checked_fixture(tc, begin_world, end_world);
	tcase_add_test(tc, reason_of_a_shutdown_goes_on);
	tcase_add_loop_test(tc, each_change_of_the_reason_goes_on, 0, 4);
	tcase_add_test(tc, tree_that_runs_has_no_reason);
	suite_add_tcase(suite, tc);
	return suite;
}
