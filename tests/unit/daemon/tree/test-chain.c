#include "tests/unit/fixtures/daemon/tree-world.h"

/* Nodes that start when a run of another service has succeeded, or when that is given up. */

#define QUIET	"autostart = no\n"
#define ONESHOT "command = x\ntype = oneshot\n" QUIET
#define PACED	"restart-delay = 1s\n"

static const char chains[] = "[a]\ncommand = x\nrestart-limit = 1/1min\n" PACED
			     "on-success-start = good\non-failure-start = bad g\n"
			     "[good]\n" ONESHOT PACED "[bad]\ncommand = x\n" QUIET
			     "[g/b]\ncommand = x\n[g/c]\ncommand = x\n" QUIET;

START_TEST(run_that_succeeds_starts_a_node)
{
	begin(chains);
	expect("a up, good down, bad down, g/b up");
	ends("a", 0);
	expect("a done, good starting, bad down");
}
END_TEST

START_TEST(ended_node_runs_again_after_its_restart_delay)
{
	begin(chains);
	ends("a", 0);
	ends("good", 0);
	expect("a done, good done");
	ck_assert_int_eq(start("a"), 0);
	ends("a", 0);
	expect("a done, good down");
	pass(SEC);
	turns();
	expect("a done, good starting");
}
END_TEST

START_TEST(restart_starts_no_node)
{
	begin(chains);
	ends("a", 1);
	expect("a backoff, good down, bad down");
}
END_TEST

START_TEST(service_that_is_given_up_starts_nodes)
{
	begin(chains);
	stop("bad");
	ends("a", 1);
	pass(SEC);
	turns();
	ends("a", 1);
	expect("a failed, good down, bad up, g/b up, g/c down");
}
END_TEST

START_TEST(stop_starts_no_node)
{
	begin(chains);
	stop("a");
	ends("a", 0);
	expect("a down, good down, bad down");
}
END_TEST

START_TEST(shutdown_starts_no_node)
{
	begin(chains);
	stop("");
	ends("a", 1);
	end_asked();
	expect("a down, good down, bad down");
	ck_assert(tree.root->complete);
}
END_TEST

START_TEST(disabled_node_stays_down)
{
	begin(chains);
	find("good")->disabled = true;
	ends("a", 0);
	expect("a done, good down");
}
END_TEST

START_TEST(oneshot_that_stays_up_has_ended)
{
	begin("[a]\ncommand = x\ntype = oneshot\npost-stop = y\non-success-start = b\n[b]\ncommand = x\n" QUIET);
	ends("a", 0);
	expect("a up, b up");
	ends("b", 0);
	expect("b done");
	stop("a");
	hook_ends("a", 0);
	expect("a down, b done");
}
END_TEST

START_TEST(instances_of_a_template_start)
{
	begin("[a]\ncommand = x\non-success-start = w@ missing a\n[w@]\ninstances = 2\n" ONESHOT);
	ends("a", 0);
	expect("a done, w@1 starting, w@2 starting");
}
END_TEST

START_TEST(tree_that_ends_with_all_services_waits_for_the_node)
{
	begin("[swansong]\nexit-when = all\n[a]\ncommand = x\nrestart = never\non-failure-start = b\n"
	      "[b]\n" ONESHOT "restart-delay = 0\n");
	ck_assert_int_eq(start("b"), 0);
	ends("b", 1);
	expect("a up, b failed");
	ends("a", 1);
	expect("a failed, b starting");
	ck_assert(!node_is_stopped(tree.root));
	ends("b", 0);
	ck_assert(node_is_stopped(tree.root));
}
END_TEST

START_TEST(group_that_stops_by_the_failure_starts_no_node)
{
	begin("[g/a]\ncommand = x\nrestart = never\non-failed = shutdown-parent\non-failure-start = g/b c\n"
	      "[g/b]\ncommand = x\n" QUIET "[c]\ncommand = x\n" QUIET);
	ends("g/a", 1);
	expect("g/b down, c up");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("chain");
	TCase *t = tree_case("chain");

	tcase_add_test(t, run_that_succeeds_starts_a_node);
	tcase_add_test(t, ended_node_runs_again_after_its_restart_delay);
	tcase_add_test(t, restart_starts_no_node);
	tcase_add_test(t, service_that_is_given_up_starts_nodes);
	tcase_add_test(t, stop_starts_no_node);
	tcase_add_test(t, shutdown_starts_no_node);
	tcase_add_test(t, disabled_node_stays_down);
	tcase_add_test(t, oneshot_that_stays_up_has_ended);
	tcase_add_test(t, instances_of_a_template_start);
	tcase_add_test(t, tree_that_ends_with_all_services_waits_for_the_node);
	tcase_add_test(t, group_that_stops_by_the_failure_starts_no_node);
	suite_add_tcase(suite, t);
	return suite;
}
