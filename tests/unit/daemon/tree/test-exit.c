#include "tests/unit/fixtures/daemon/tree-world.h"

/* Ends of services that end the tree or a group of it, and what stays of them. */

#include "base/macro.h"
#include "daemon/tree/exit.h"

#define SERVICE(path) "[" path "]\ncommand = x\nrestart = never\n"

static void expect_running(void)
{
	ck_assert(!node_is_stopped(tree.root));
}

static void expect_ended(const char *cause, int status)
{
	ck_assert(node_is_stopped(tree.root));
	ck_assert(tree.ends.by_itself);
	if (cause)
		ck_assert_ptr_eq(exit_service(&tree), service(cause));
	else
		ck_assert_ptr_null(exit_service(&tree));
	ck_assert_int_eq(exit_status_of_cause(&tree), status);
}

/* --- exit-when = all --- */

START_TEST(tree_ends_with_the_last_service)
{
	begin("[swansong]\nexit-when = all\n" SERVICE("a") SERVICE("b"));
	ends("a", 0);
	expect_running();
	ends("b", 0);
	expect_ended(NULL, -1);
}
END_TEST

START_TEST(tree_ends_with_the_last_essential_service)
{
	begin("[swansong]\nexit-when = all\n" SERVICE("helper")
		      SERVICE("a") "essential = yes\n" SERVICE("b") "essential = yes\n");
	ends("a", 0);
	expect_running();
	ends("b", 0);
	expect_ended("a", 0);
	expect("helper stopping");
}
END_TEST

START_TEST(end_of_others_does_not_end_a_tree_with_an_essential_service)
{
	begin("[swansong]\nexit-when = all\n" SERVICE("helper") SERVICE("a") "essential = yes\n");
	ends("helper", 3);
	expect_running();
	ends("a", 4);
	expect_ended("a", 4);
}
END_TEST

START_TEST(first_service_that_failed_is_the_cause)
{
	begin("[swansong]\nexit-when = all\n" SERVICE("a") SERVICE("b") SERVICE("c"));
	ends("a", 0);
	ends("c", 5);
	ends("b", 6);
	expect_ended("c", 5);
}
END_TEST

/* Its process runs until it has ended, and the section is gone. */
START_TEST(removed_service_is_not_essential)
{
	begin("[swansong]\nexit-when = all\n" SERVICE("a") SERVICE("b") "essential = yes\n");
	ck_assert(exit_has_essential(&tree));
	reload("[swansong]\nexit-when = all\n" SERVICE("a"));
	expect("b stopping");
	ck_assert(!exit_has_essential(&tree));
	ends("a", 0);
	expect_ended(NULL, -1);
}
END_TEST

START_TEST(service_that_is_not_essential_any_more_is_no_cause)
{
	begin(SERVICE("a") "essential = yes\n" SERVICE("b") "essential = yes\n"
							    "[swansong]\nexit-when = all\n");
	ends("a", 3);
	ck_assert_ptr_eq(exit_service(&tree), service("a"));
	ck_assert_int_eq(exit_status_of_cause(&tree), 3);
	reload(SERVICE("a") SERVICE("b") "essential = yes\n[swansong]\nexit-when = all\n");
	ck_assert_ptr_null(exit_service(&tree));
	ck_assert_int_eq(exit_status_of_cause(&tree), -1);
}
END_TEST

/* --- on-failed --- */

START_TEST(failure_that_stops_its_group_stays_visible)
{
	begin("[g]\n" SERVICE("g/a") "on-failed = shutdown-parent\n" SERVICE("g/b") SERVICE("c"));
	ends("g/a", 3);
	expect("g/a failed, g/b stopping, c up");
	end_asked();
	expect("g/a failed, g/b down, c up");
	ck_assert(find("g")->complete);
	stop(_i == 0 ? "g/a" : _i == 1 ? "g" : "root");
	expect("g/a down");
}
END_TEST

START_TEST(failure_of_a_group_that_is_stopped_by_request_is_forgotten)
{
	begin("[g]\n" SERVICE("g/a") SERVICE("g/b"));
	ends("g/a", 3);
	expect("g/a failed, g/b up");
	stop("g");
	expect("g/a down");
}
END_TEST

START_TEST(fatal_failure_ends_the_tree)
{
	begin(SERVICE("a") "on-failed = shutdown\n" SERVICE("b"));
	ends("b", 2);
	expect_running();
	ends("a", 3);
	expect_ended("a", 3);
	ck_assert(tree.ends.given_up);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("exit");
	TCase *tc = tree_case("exit");

	tcase_add_test(tc, tree_ends_with_the_last_service);
	tcase_add_test(tc, tree_ends_with_the_last_essential_service);
	tcase_add_test(tc, end_of_others_does_not_end_a_tree_with_an_essential_service);
	tcase_add_test(tc, first_service_that_failed_is_the_cause);
	tcase_add_test(tc, removed_service_is_not_essential);
	tcase_add_test(tc, service_that_is_not_essential_any_more_is_no_cause);
	tcase_add_loop_test(tc, failure_that_stops_its_group_stays_visible, 0, 3);
	tcase_add_test(tc, failure_of_a_group_that_is_stopped_by_request_is_forgotten);
	tcase_add_test(tc, fatal_failure_ends_the_tree);
	suite_add_tcase(s, tc);
	return s;
}
