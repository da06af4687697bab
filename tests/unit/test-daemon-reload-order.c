#include "reloaded-tree.h"

#include "daemon/failure.h"
#include "daemon/order.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"

/* In which order a reload, or a strategy, stops and starts what there is. */

/* Both are stopped: @later has its signal when @first is gone. */
static void end_in_order(const char *first, const char *later)
{
	ck_assert_int_eq(service(first)->state, STATE_STOPPING);
	ck_assert_int_eq(service(later)->state, STATE_GATED);
	end(first);
	ck_assert_int_eq(service(later)->state, STATE_STOPPING);
	end(later);
}

/* Who comes after the other ends before it, also if the other is the first in the file. */
START_TEST(what_is_stopped_together_ends_in_order)
{
	static const char *const after[] = {
		"[a]\ncommand = y\n[b]\ncommand = y\nafter = a\n[c]\ncommand = x\n",
		"[c]\ncommand = x\n",
	};

	begin("[a]\ncommand = x\n[b]\ncommand = x\nafter = a\n[c]\ncommand = x\n");
	run("a");
	run("b");
	reload(after[_i]);
	end_in_order("b", "a");
	finish();
}
END_TEST

START_TEST(what_a_strategy_restarts_ends_in_order)
{
	begin("[g]\nstrategy = one-for-all\n[g/a]\ncommand = x\n[g/b]\ncommand = x\nafter = g/a\n"
	      "[g/c]\ncommand = x\n");
	for (const char *const *path = (const char *const[]){ "g/a", "g/b", "g/c", NULL }; *path;
	     path++)
		run(*path);
	service_handle(service("g/c"), EVENT_RETRY);
	process_remove(&service("g/c")->main);
	failure_follow(&tree);
	ck_assert_int_eq(service("g/b")->state, STATE_STOPPING);
	ck_assert_int_eq(service("g/a")->state, STATE_GATED);
	end("g/b");
	ck_assert_ptr_eq(order_start_blocker(service("g/b")), find("g/a"));
	ck_assert_int_eq(service("g/a")->state, STATE_STOPPING);
	end("g/a");
	is_back("g/a", 2);
	finish();
}
END_TEST

/* Also where it is in a group that waits as one, which goes on waiting. */
START_TEST(who_is_started_by_hand_does_not_wait_for_the_others)
{
	begin("[g]\nstrategy = one-for-all\n[g/a]\ncommand = x\n[g/b]\ncommand = x\n"
	      "[g/h/x]\ncommand = x\n[g/h/y]\ncommand = x\n");
	for (const char *const *path =
		     (const char *const[]){ "g/a", "g/b", "g/h/x", "g/h/y", NULL };
	     *path; path++)
		run(*path);
	service_handle(service("g/a"), EVENT_RETRY);
	process_remove(&service("g/a")->main);
	failure_follow(&tree);
	end("g/h/x");
	end("g/h/y");
	ck_assert_ptr_eq(order_start_blocker(service("g/h/x")), find("g/b"));
	ck_assert_int_eq(starting_begin(find("g/h/x")), 0);
	ck_assert_ptr_null(order_start_blocker(service("g/h/x")));
	ck_assert_ptr_eq(order_start_blocker(service("g/h/y")), find("g/b"));
	end("g/b");
	ck_assert_ptr_null(order_start_blocker(service("g/h/y")));
	finish();
}
END_TEST

/* It has ended once, as it was to; what becomes of it then is no matter to the others. */
START_TEST(who_has_ended_is_not_waited_for_again)
{
	begin("[g]\nstrategy = one-for-all\n[g/a]\ncommand = x\n[g/b]\ncommand = x\n"
	      "[g/c]\ncommand = x\n");
	for (const char *const *path = (const char *const[]){ "g/a", "g/b", "g/c", NULL }; *path;
	     path++)
		run(*path);
	service_handle(service("g/c"), EVENT_RETRY);
	process_remove(&service("g/c")->main);
	failure_follow(&tree);
	end("g/b");
	ck_assert_int_eq(starting_begin(find("g/b")), 0);
	run("g/b");
	shutdown_stop(&tree, find("g/b"), "test");
	ck_assert_ptr_eq(order_start_blocker(service("g/c")), find("g/a"));
	end("g/a");
	ck_assert_int_eq(service("g/b")->state, STATE_STOPPING);
	ck_assert_ptr_null(order_start_blocker(service("g/c")));
	end("g/b");
	finish();
}
END_TEST

/* By its old edge it is to end before "b", and by the new one of what it is in "b" before it. */
START_TEST(what_goes_waits_for_nobody_who_waits_for_it)
{
	begin("[g/a]\ncommand = x\nwants = b\n[g/c]\ncommand = x\n[b]\ncommand = x\n"
	      "[z]\ncommand = x\nafter = g/a\n");
	run("g/a");
	run("b");
	run("z");
	reload("[g]\nterm-after = b\n[g/c]\ncommand = x\n[b]\ncommand = y\n");
	end("z");
	ck_assert_int_eq(service("g/a")->state, STATE_STOPPING);
	end("g/a");
	ck_assert_int_eq(service("b")->state, STATE_STOPPING);
	end("b");
	ck_assert_ptr_null(tree_find(&tree, "g/a"));
	is_back("b", 2);
	finish();
}
END_TEST

/* Where that is no circle, what goes ends in the order of its edges. */
START_TEST(what_goes_has_its_edges_until_it_is_gone)
{
	begin("[a]\ncommand = x\nwants = b\n[b]\ncommand = x\n");
	run("a");
	run("b");
	reload("[b]\ncommand = y\n");
	end_in_order("a", "b");
	finish();
}
END_TEST

START_TEST(edges_of_what_stays_change)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\n[c]\ncommand = x\nrequires = a\n");
	reload("[a]\ncommand = x\n[b]\ncommand = x\n[c]\ncommand = x\nafter = b\n");
	ck_assert_ptr_null(node_edges(find("c"), EDGE_REQUIRES));
	ck_assert_ptr_eq(node_edges(find("c"), EDGE_AFTER)[0], find("b"));
	ck_assert_ptr_null(node_edges(find("a"), LIST_DEPENDENTS));
	ck_assert_ptr_eq(node_edges(find("b"), LIST_DEPENDENTS)[0], find("c"));
	finish();
}
END_TEST

/* It was stopped before anybody required it, so another stop is no reason to stop who does now. */
START_TEST(a_new_requirement_that_is_stopped_stops_nobody)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\n[c]\ncommand = x\n");
	run("b");
	shutdown_stop(&tree, find("a"), "test");
	turn();
	reload("[a]\ncommand = x\n[b]\ncommand = x\nrequires = a\n[c]\ncommand = x\n");
	shutdown_stop(&tree, find("c"), "test");
	turn();
	ck_assert(!node_is_stopped(find("b")));
	end("b");
	finish();
}
END_TEST

TCase *order_tests(void)
{
	TCase *tc = tcase_create("order");

	tcase_add_loop_test(tc, what_is_stopped_together_ends_in_order, 0, 2);
	tcase_add_test(tc, what_a_strategy_restarts_ends_in_order);
	tcase_add_test(tc, who_is_started_by_hand_does_not_wait_for_the_others);
	tcase_add_test(tc, who_has_ended_is_not_waited_for_again);
	tcase_add_test(tc, what_goes_waits_for_nobody_who_waits_for_it);
	tcase_add_test(tc, what_goes_has_its_edges_until_it_is_gone);
	tcase_add_test(tc, edges_of_what_stays_change);
	tcase_add_test(tc, a_new_requirement_that_is_stopped_stops_nobody);
	return tc;
}
