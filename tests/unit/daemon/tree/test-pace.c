#include "tests/unit/fixtures/daemon/tree-world.h"

/* Services that start a few at a time: start-parallel. */

#include "daemon/tree/start-order.h"

#define NOTIFIES "command = x\nready = notify\nrestart-delay = 1s\n"

static const char four[] = "[g]\nstart-parallel = 2\n"
			   "[g/a]\n" NOTIFIES "[g/b]\n" NOTIFIES "[g/c]\n" NOTIFIES "[g/d]\n" NOTIFIES
			   "[beside]\n" NOTIFIES;

START_TEST(the_rest_waits_in_order_until_one_is_ready)
{
	begin(four);
	expect("g/a starting, g/b starting, g/c down, g/d down, beside starting");
	ck_assert_ptr_eq(start_order_pacer(service("g/c")), find("g"));
	ck_assert_ptr_null(start_order_blocker(service("g/c")));
	ck_assert(!service("g/c")->blocked);
	ck_assert_ptr_null(start_order_pacer(service("beside")));
	ready("g/b");
	expect("g/a starting, g/b up, g/c starting, g/d down");
	ready("g/a");
	expect("g/a up, g/d starting");
	check_counts();
}
END_TEST

START_TEST(failed_start_leaves_its_place_to_the_next_one)
{
	begin(four);
	ends("g/a", 1);
	expect("g/a backoff, g/b starting, g/c starting, g/d down");
	pass(SEC);
	expect("g/a backoff, g/d down");
	ready("g/b");
	expect("g/a backoff, g/d starting");
	ready("g/c");
	expect("g/a starting, g/d starting");
}
END_TEST

START_TEST(restart_of_the_group_is_paced)
{
	begin(four);
	ready("g/a");
	ready("g/b");
	ready("g/c");
	ready("g/d");
	ck_assert_int_eq(restart("g"), 0);
	end_asked();
	expect("g/a starting, g/b starting, g/c down, g/d down");
}
END_TEST

START_TEST(stop_of_the_group_ends_the_wait)
{
	begin(four);
	stop("g");
	end_asked();
	expect("g/a down, g/b down, g/c down, g/d down");
	ck_assert(find("g")->complete);
}
END_TEST

START_TEST(limits_of_groups_around_it_count_too)
{
	begin("[swansong]\nstart-parallel = 2\n[g]\nstart-parallel = infinity\n"
	      "[g/a]\n" NOTIFIES "[g/b]\n" NOTIFIES "[c]\n" NOTIFIES);
	expect("g/a starting, g/b starting, c down");
	ck_assert_ptr_eq(start_order_pacer(service("c")), tree.root);
	ready("g/b");
	expect("c starting");
}
END_TEST

START_TEST(service_that_waits_for_another_has_no_place)
{
	begin("[db]\n" NOTIFIES "[g]\nstart-parallel = 1\n"
	      "[g/a]\nrequires = db\n" NOTIFIES "[g/b]\n" NOTIFIES);
	expect("g/a down, g/b starting");
	ck_assert_ptr_eq(start_order_blocker(service("g/a")), find("db"));
	ready("db");
	ck_assert_ptr_eq(start_order_pacer(service("g/a")), find("g"));
	ready("g/b");
	expect("g/a starting");
}
END_TEST

START_TEST(reload_changes_the_limit_at_once)
{
	begin("[g]\nstart-parallel = 1\n[g/a]\n" NOTIFIES "[g/b]\n" NOTIFIES "[g/c]\n" NOTIFIES);
	expect("g/a starting, g/b down, g/c down");
	reload("[g]\nstart-parallel = 2\n[g/a]\n" NOTIFIES "[g/b]\n" NOTIFIES "[g/c]\n" NOTIFIES);
	expect("g/a starting, g/b starting, g/c down");
	reload("[g]\n[g/a]\n" NOTIFIES "[g/b]\n" NOTIFIES "[g/c]\n" NOTIFIES);
	expect("g/a starting, g/b starting, g/c starting");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("pace");
	TCase *t = tree_case("pace");

	tcase_add_test(t, the_rest_waits_in_order_until_one_is_ready);
	tcase_add_test(t, failed_start_leaves_its_place_to_the_next_one);
	tcase_add_test(t, restart_of_the_group_is_paced);
	tcase_add_test(t, stop_of_the_group_ends_the_wait);
	tcase_add_test(t, limits_of_groups_around_it_count_too);
	tcase_add_test(t, service_that_waits_for_another_has_no_place);
	tcase_add_test(t, reload_changes_the_limit_at_once);
	suite_add_tcase(suite, t);
	return suite;
}
