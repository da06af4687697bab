#include "tests/unit/fixtures/daemon/tree-world.h"

/* The order in which a reload or a strategy stops and starts services. */

#include "base/macro.h"
#include "daemon/tree/start-order.h"

static const char *const after[] = {
	"[a]\ncommand = y\n[b]\ncommand = y\nafter = a\n[c]\ncommand = x\n",
	"[c]\ncommand = x\n",
};

START_TEST(services_stopped_by_one_reload_end_in_order)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\nafter = a\n[c]\ncommand = x\n");
	reload(after[_i]);
	expect("a waiting, b stopping, c up");
	ends("b", 0);
	expect("a stopping");
}
END_TEST

/* --- strategies --- */

static const char group[] = "[g]\nstrategy = one-for-all\n[g/a]\ncommand = x\n"
			    "[g/b]\ncommand = x\nafter = g/a\n[g/c]\ncommand = x\n"
			    "[g/h/x]\ncommand = x\n[g/h/y]\ncommand = x\n";

START_TEST(strategy_stops_and_starts_in_order)
{
	begin(group);
	ends("g/c", 1);
	expect("g/a waiting, g/b stopping, g/h/x stopping");
	ends("g/h/x", 0);
	ends("g/h/y", 0);
	ends("g/b", 0);
	expect("g/a stopping, g/b down");
	ck_assert_ptr_eq(start_order_blocker(service("g/b")), find("g/a"));
	ends("g/a", 0);
	pass(60 * SEC);
	expect("g/a up, g/b up, g/c up, g/h/x up");
}
END_TEST

/* This also holds in a group that waits as a whole, which goes on waiting. */
START_TEST(start_by_hand_does_not_wait_for_the_restart_group)
{
	begin(group);
	ends("g/c", 1);
	ends("g/h/x", 0);
	ends("g/h/y", 0);
	expect("g/h/x down, g/h/y down");
	ck_assert_ptr_eq(start_order_blocker(service("g/h/x")), find("g/a"));
	ck_assert_int_eq(start("g/h/x"), 0);
	expect("g/h/x up, g/h/y down");
	ck_assert_ptr_eq(start_order_blocker(service("g/h/y")), find("g/a"));
	ends("g/b", 0);
	ends("g/a", 0);
	ck_assert_ptr_null(start_order_blocker(service("g/h/y")));
	pass(60 * SEC);
	expect("g/a up, g/h/x up, g/h/y up");
}
END_TEST

/* A second stop of a member does not disturb the restart that it has been through. */
START_TEST(restart_group_waits_for_each_member_once)
{
	begin(group);
	ends("g/c", 1);
	ends("g/h/x", 0);
	ends("g/h/y", 0);
	ck_assert_int_eq(start("g/h"), 0);
	stop("g/h/x");
	expect("g/h/x stopping, g/h/y up");
	ends("g/b", 0);
	ends("g/a", 0);
	ck_assert_ptr_null(start_order_blocker(service("g/c")));
	pass(SEC);
	expect("g/h/x stopping, g/a up, g/b up, g/c up");
}
END_TEST

/* --- edges --- */

/* The old edge of "g/a" lets it end before "b", the new one of "g" after it. */
START_TEST(removed_service_loses_edges_that_would_close_a_cycle)
{
	begin("[g/a]\ncommand = x\nwants = b\n[g/c]\ncommand = x\n[b]\ncommand = x\n"
	      "[z]\ncommand = x\nafter = g/a\n");
	reload("[g]\nterm-after = b\n[g/c]\ncommand = x\n[b]\ncommand = y\n");
	end_asked();
	ck_assert_ptr_null(tree_find(&tree, "g/a"));
	ck_assert_ptr_null(tree_find(&tree, "z"));
	expect("g/c up, b up");
	ck_assert_uint_eq(find("b")->generation, 2);
}
END_TEST

START_TEST(removed_service_keeps_its_other_edges_until_it_is_gone)
{
	begin("[a]\ncommand = x\nwants = b\n[b]\ncommand = x\n");
	reload("[b]\ncommand = y\n");
	expect("a stopping, b waiting");
	ends("a", 0);
	expect("b stopping");
}
END_TEST

START_TEST(edges_of_a_remaining_service_change_at_once)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\n[c]\ncommand = x\nrequires = a\n");
	reload("[a]\ncommand = x\n[b]\ncommand = x\n[c]\ncommand = x\nafter = b\n");
	ck_assert_ptr_null(node_edges(find("c"), EDGE_REQUIRES));
	ck_assert_ptr_eq(node_edges(find("c"), EDGE_AFTER)[0], find("b"));
	ck_assert_ptr_null(node_edges(find("a"), LIST_DEPENDENTS));
	ck_assert_ptr_eq(node_edges(find("b"), LIST_DEPENDENTS)[0], find("c"));
}
END_TEST

/* "a" was stopped before "b" required it, so no later stop is a reason to stop "b". */
START_TEST(new_requirement_that_is_stopped_stops_no_dependents)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\n[c]\ncommand = x\n");
	stop("a");
	end_asked();
	reload("[a]\ncommand = x\n[b]\ncommand = x\nrequires = a\n[c]\ncommand = x\n");
	stop("c");
	expect("a down, b up, c stopping");
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("reload-order");
	TCase *tc = tree_case("reload-order");

	tcase_add_loop_test(tc, services_stopped_by_one_reload_end_in_order, 0, ARRAY_SIZE(after));
	tcase_add_test(tc, strategy_stops_and_starts_in_order);
	tcase_add_test(tc, start_by_hand_does_not_wait_for_the_restart_group);
	tcase_add_test(tc, restart_group_waits_for_each_member_once);
	tcase_add_test(tc, removed_service_loses_edges_that_would_close_a_cycle);
	tcase_add_test(tc, removed_service_keeps_its_other_edges_until_it_is_gone);
	tcase_add_test(tc, edges_of_a_remaining_service_change_at_once);
	tcase_add_test(tc, new_requirement_that_is_stopped_stops_no_dependents);
	suite_add_tcase(s, tc);
	return s;
}
