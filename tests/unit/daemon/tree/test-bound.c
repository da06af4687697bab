#include "tests/unit/fixtures/daemon/tree-world.h"

/* Nodes that are bound to others, and the requirement on instances of a template. */

#include "daemon/tree/start-order.h"

static const char bound[] = "[db]\ncommand = x\nrestart-delay = 1s\n[web]\ncommand = x\nbinds-to = db\n"
			    "[log]\ncommand = x\nrequires = db\n";

START_TEST(bound_service_stops_and_comes_back_with_the_other)
{
	begin(bound);
	(void)launched();
	ends("db", 1);
	expect("db backoff, web stopping, log up");
	ends("web", 0);
	expect("db backoff, web down");
	pass(SEC);
	turns();
	expect("db up, web up, log up");
	ck_assert_str_eq(launched(), "db web ");
	ck_assert_uint_eq(find("log")->generation, 1);
}
END_TEST

START_TEST(restart_of_the_other_waits_for_the_end_of_the_bound_service)
{
	begin(bound);
	ends("db", 1);
	pass(SEC);
	turns();
	expect("db backoff, web stopping");
	ck_assert_ptr_eq(start_order_blocker(service("db")), find("web"));
	ends("web", 0);
	expect("db up, web up");
}
END_TEST

START_TEST(bound_service_stays_down_if_the_other_does_not_come_back)
{
	begin(bound);
	ends("db", 0);
	expect("db done, web stopping, log up");
	ends("web", 0);
	pass(60 * SEC);
	turns();
	expect("db done, web down, log up");
	ck_assert(find("web")->complete);
	ck_assert_int_eq(start("web"), 0);
	expect("db up, web up");
}
END_TEST

START_TEST(service_that_waits_for_its_start_is_not_stopped)
{
	begin("[db]\ncommand = x\nready = notify\nrestart-delay = 1s\n[web]\ncommand = x\nbinds-to = db\n");
	ends("db", 1);
	expect("db backoff, web down");
	ck_assert_uint_eq(find("web")->generation, 1);
	pass(SEC);
	turns();
	ready("db");
	expect("db up, web up");
}
END_TEST

START_TEST(done_oneshot_has_not_ended)
{
	begin("[job]\ncommand = x\ntype = oneshot\n[web]\ncommand = x\nbinds-to = job\n");
	ends("job", 0);
	expect("job done, web up");
}
END_TEST

START_TEST(group_is_bound_as_a_whole_and_to_each_member)
{
	begin("[g/a]\ncommand = x\n[g/b]\ncommand = x\n[h]\nbinds-to = g\n[h/c]\ncommand = x\n[h/d]\ncommand = x\n");
	ends("g/b", 0);
	expect("g/a up, g/b done, h/c stopping, h/d stopping");
}
END_TEST

START_TEST(stop_and_restart_work_as_with_requires)
{
	begin(bound);
	ck_assert_int_eq(restart("db"), 0);
	expect("db waiting, web stopping, log stopping");
	end_asked();
	end_asked();
	expect("db up, web up, log up");
	stop("db");
	end_asked();
	end_asked();
	expect("db down, web down, log down");
}
END_TEST

START_TEST(shutdown_in_the_middle_ends_all)
{
	begin(bound);
	ends("db", 1);
	expect("db backoff, web stopping");
	stop("");
	end_asked();
	expect("db down, web down, log down");
	ck_assert(tree.root->complete);
}
END_TEST

/* --- instances --- */

#define FAILS "restart = never\nready = notify\n"

START_TEST(node_starts_without_a_failed_instance)
{
	begin("[a@]\ninstances = 3\ncommand = x\n" FAILS "[front]\ncommand = x\nrequires = a@\n"
	      "[by-name]\ncommand = x\nrequires = a@2\n");
	ready("a@1");
	expect("front down, by-name down");
	ends("a@2", 1);
	expect("a@2 failed, front down, by-name down");
	ready("a@3");
	expect("front up, by-name down");
	ck_assert(service("by-name")->blocked);
}
END_TEST

START_TEST(node_does_not_start_without_any_instance)
{
	begin("[a@]\ninstances = 2\ncommand = x\n" FAILS "[front]\ncommand = x\nrequires = a@\n");
	ends("a@1", 1);
	expect("front down");
	ck_assert(!service("front")->blocked);
	ends("a@2", 1);
	expect("a@1 failed, a@2 failed, front down");
	ck_assert(service("front")->blocked);
}
END_TEST

START_TEST(failed_piece_of_work_is_missed)
{
	begin("[a@]\ninstances = 2\ncommand = x\ntype = oneshot\n[front]\ncommand = x\nrequires = a@\n");
	ends("a@1", 0);
	ends("a@2", 1);
	expect("a@1 done, a@2 failed, front down");
	ck_assert(service("front")->blocked);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("bound");
	TCase *t = tree_case("bound");

	tcase_add_test(t, bound_service_stops_and_comes_back_with_the_other);
	tcase_add_test(t, restart_of_the_other_waits_for_the_end_of_the_bound_service);
	tcase_add_test(t, bound_service_stays_down_if_the_other_does_not_come_back);
	tcase_add_test(t, service_that_waits_for_its_start_is_not_stopped);
	tcase_add_test(t, done_oneshot_has_not_ended);
	tcase_add_test(t, group_is_bound_as_a_whole_and_to_each_member);
	tcase_add_test(t, stop_and_restart_work_as_with_requires);
	tcase_add_test(t, shutdown_in_the_middle_ends_all);
	tcase_add_test(t, node_starts_without_a_failed_instance);
	tcase_add_test(t, node_does_not_start_without_any_instance);
	tcase_add_test(t, failed_piece_of_work_is_missed);
	suite_add_tcase(suite, t);
	return suite;
}
