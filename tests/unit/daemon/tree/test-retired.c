#include "tests/unit/fixtures/daemon/tree-world.h"

/* Nodes without a section after a reload. */

#include <errno.h>

#include "daemon/tree/start-order.h"

#define DB  "[db]\ncommand = x\n"
#define WEB "[web]\ncommand = x\nrequires = db\n"
#define LOG "[log]\ncommand = x\nafter = web\n"

static const char three[] = DB WEB LOG, no_web[] = DB "[log]\ncommand = x\n";

static void check_gone(const char *path)
{
	ck_assert_ptr_null(tree_find(&tree, path));
}

START_TEST(removed_node_goes_with_its_last_process)
{
	begin(three);
	reload(no_web);
	expect("web stopping, db up, log up");
	ck_assert_int_eq(find("web")->goal, GOAL_GONE);
	ends("web", 0);
	check_gone("web");
	ck_assert_ptr_null(node_edges(find("db"), LIST_DEPENDENTS)[0]);
}
END_TEST

START_TEST(removed_node_that_is_complete_goes_at_once)
{
	begin(three);
	stop("web");
	ends("web", 0);
	ck_assert(find("web")->complete);
	reload(no_web);
	check_gone("web");
	reload(three);
	expect("web up");
	ck_assert_uint_eq(find("web")->generation, 1);
}
END_TEST

/* The present generation is Complete at once, but the process of the earlier one works on. */
START_TEST(removed_node_stays_for_an_earlier_generation)
{
	begin(three);
	stop("web");
	ck_assert_int_eq(start("web"), 0);
	reload(no_web);
	ck_assert(find("web")->complete);
	expect("web stopping");
	ends("web", 0);
	check_gone("web");
}
END_TEST

START_TEST(removed_node_stays_for_a_lease)
{
	struct lease *lease;

	begin(three);
	lease = hold("web");
	stop("web");
	ends("web", 0);
	ck_assert_int_eq(start("web"), 0);
	reload(no_web);
	ends("web", 0);
	ck_assert(find("web")->complete);
	release(lease);
	check_gone("web");
}
END_TEST

START_TEST(removed_node_is_not_started_again)
{
	begin(three);
	reload(no_web);
	ck_assert_int_eq(start("web"), -ESHUTDOWN);
	ck_assert_int_eq(restart("web"), -ESHUTDOWN);
	ck_assert_int_eq(start("root"), 0);
	expect("web stopping");
	ends("web", 0);
	check_gone("web");
}
END_TEST

START_TEST(service_that_has_lost_a_requirement_by_reload_runs_on)
{
	begin(three);
	reload("[web]\ncommand = x\n" LOG);
	expect("db stopping, web up, log up");
	ck_assert_ptr_null(start_order_blocker(service("web")));
	ends("db", 0);
	check_gone("db");
}
END_TEST

START_TEST(end_of_a_removed_essential_service_is_not_that_of_the_tree)
{
	begin("[main]\ncommand = x\nessential = yes\n");
	reload("");
	ends("main", 0);
	check_gone("main");
	ck_assert_ptr_null(tree.ends.cause);
	ck_assert(!node_is_stopped(tree.root));
}
END_TEST

START_TEST(removed_service_that_ended_the_tree_is_forgotten)
{
	begin("[main]\ncommand = x\nessential = yes\n");
	ends("main", 0);
	ck_assert_ptr_eq(tree.ends.cause, service("main"));
	ck_assert(node_is_stopped(tree.root));
	reload("");
	check_gone("main");
	ck_assert_ptr_null(tree.ends.cause);
	ck_assert_ptr_null(tree.ends.first);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("retired");
	TCase *tc = tree_case("retired");

	tcase_add_test(tc, removed_node_goes_with_its_last_process);
	tcase_add_test(tc, removed_node_that_is_complete_goes_at_once);
	tcase_add_test(tc, removed_node_stays_for_an_earlier_generation);
	tcase_add_test(tc, removed_node_stays_for_a_lease);
	tcase_add_test(tc, removed_node_is_not_started_again);
	tcase_add_test(tc, service_that_has_lost_a_requirement_by_reload_runs_on);
	tcase_add_test(tc, end_of_a_removed_essential_service_is_not_that_of_the_tree);
	tcase_add_test(tc, removed_service_that_ended_the_tree_is_forgotten);
	suite_add_tcase(s, tc);
	return s;
}
