/* The time by which a node must have ended, and the share of each service. */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include "base/macro.h"
#include "daemon/tree/deadline.h"
#include "daemon/tree/goals.h"

/* --- budgets --- */

START_TEST(service_has_no_more_than_the_nodes_above)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 90s\n[web]\nshutdown-timeout = 30s\n"
	      "[web/a]\ncommand = x\nshutdown-timeout = 1h\n[b]\ncommand = x\n"
	      "stop-timeout = infinity\n");
	lease = hold("web/a");
	stop("root");
	expect_left("web/a", 30 * SEC);
	expect_left("b", 90 * SEC);
	release(lease);
	expect_left("web/a", 10 * SEC);
}
END_TEST

START_TEST(nearer_budget_limits_an_ending_that_has_begun)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 20s\n[web]\ncommand = x\n"
	      "[slow]\ncommand = x\ndrain-delay = 1min\n");
	lease = hold("web");
	stop("web");
	stop("slow");
	expect_left("web", 300 * SEC);
	expect_left("slow", 60 * SEC);
	stop("root");
	expect_left("web", 20 * SEC);
	/* Its stop-timeout of 10 s must remain, or a third of the budget. */
	expect_left("slow", 20 * SEC - 20 * SEC / 3);
	release(lease);
}
END_TEST

START_TEST(start_keeps_the_budget_of_an_earlier_run)
{
	begin("[swansong]\nshutdown-timeout = 90s\n[g]\nshutdown-timeout = 20s\n"
	      "[g/db]\ncommand = x\nstop-timeout = 1min\n"
	      "[g/web]\ncommand = x\nstop-timeout = 1min\nrequires = g/db\n"
	      "[g/slow]\ncommand = x\ndrain-delay = 5min\nstop-timeout = 1s\n");
	stop("g");
	ck_assert_int_eq(start("g"), 0);
	expect("g/db waiting, g/web stopping, g/slow draining");
	ck_assert_uint_eq(find("g")->kill_usec, USEC_INFINITY);
	expect_left("g/db", 20 * SEC);
	expect_left("g/web", 20 * SEC - 20 * SEC / 3);
	expect_left("g/slow", 19 * SEC);
	service_post(service("g/slow"), EVENT_TIMEOUT);
	turns();
	expect("g/slow stopping");
	expect_left("g/slow", 1 * SEC);
	/* Another stop does not prolong it. */
	stop("g");
	expect_left("g/db", 20 * SEC);
	ends("g/web", 0);
	expect("g/db stopping");
	expect_left("g/db", 20 * SEC);
	/* The next run has its own budget. */
	end_asked();
	ck_assert_int_eq(start("g"), 0);
	expect("g/db up, g/web up, g/slow up");
	ck_assert_uint_eq(service("g/db")->kept_usec, 0);
	stop("root");
	ends("g/web", 0);
	expect_left("g/db", 20 * SEC);
}
END_TEST

START_TEST(commands_after_the_kill_have_their_share)
{
	begin("[swansong]\nshutdown-timeout = 90s\nstop-timeout = infinity\n"
	      "final = x\nfinal-timeout = 20s\n"
	      "[web]\nfinal = x\nfinal-timeout = 5s\n"
	      "[web/a]\ncommand = x\npost-stop = x\n[web/b]\ncommand = x\n[c]\ncommand = x\n");
	stop("root");
	expect_left("c", 70 * SEC);
	expect_left("web/b", 65 * SEC);
	expect_left("web/a", 63 * SEC);
	ck_assert_uint_eq(find("web")->deadline_usec, tree.root->kill_usec);
}
END_TEST

START_TEST(share_of_a_command_is_at_most_a_third)
{
	begin("[swansong]\nshutdown-timeout = 9s\nstop-timeout = infinity\nfinal = x\n"
	      "[web]\ncommand = x\npost-stop = x\n");
	stop("root");
	expect_left("web", 4 * SEC);
}
END_TEST

/* "web" may take all of the budget, but "db" must get its signal before it is killed. */
START_TEST(service_that_waits_for_its_signal_has_its_stop_timeout)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 90s\n[db]\ncommand = x\nstop-timeout = 15s\n"
	      "[web]\ncommand = x\nrequires = db\n[disk]\ncommand = x\nterm-after = db\n"
	      "stop-timeout = 5s\n");
	lease = hold("web");
	stop("root");
	expect("db waiting, disk waiting");
	expect_left("web", 75 * SEC);
	release(lease);
	ends("web", 0);
	expect("db stopping, disk waiting");
	expect_left("db", 15 * SEC);
	ends("db", 0);
	expect_left("disk", 5 * SEC);
}
END_TEST

START_TEST(guard_is_revoked_in_time_for_the_signal_that_waits_for_it)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 90s\n[db]\ncommand = x\nstop-timeout = 15s\n"
	      "[web]\nrequires = db\n");
	lease = hold("web");
	stop("root");
	pass(74 * SEC);
	expect("db waiting");
	pass(SEC);
	expect("db stopping");
	expect_left("db", 15 * SEC);
	ck_assert(find("web")->complete && find("web")->forced);
	release(lease);
}
END_TEST

START_TEST(requirement_that_runs_on_has_no_share)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 90s\n[db]\ncommand = x\n"
	      "[web]\ncommand = x\nshutdown-timeout = 30s\nrequires = db\n");
	lease = hold("web");
	stop("web");
	expect_left("web", 30 * SEC);
	release(lease);
}
END_TEST

START_TEST(expired_budget_kills)
{
	begin("[g]\nshutdown-timeout = 20s\n[g/web]\ncommand = x\nstop-timeout = infinity\n");
	stop("g");
	pass(19 * SEC);
	expect("g/web stopping");
	pass(SEC);
	expect("g/web killing");
	ends("g/web", 9);
	ck_assert(find("g")->complete && find("g")->forced);
}
END_TEST

/* --- the grace of the parent manager --- */

START_TEST(example_of_the_manual_is_right)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 90s\nfinal = x\n"
	      "[data/redis]\ncommand = x\nstop-timeout = 20s\n"
	      "[web]\nshutdown-timeout = 40s\n"
	      "[web/nginx]\ncommand = x\nrequires = data/redis\npost-stop = x\n");
	ctx.grace_usec = 60 * SEC;
	lease = hold("web/nginx");
	stop("root");
	expect_left("web/nginx", 25 * SEC);
	release(lease);
	expect_left("web/nginx", 10 * SEC);
	ck_assert_uint_eq(find("data/redis")->kill_usec - tree.root->stop_usec, 47 * SEC);
	ck_assert_uint_eq(tree.root->deadline_usec - tree.root->stop_usec, 57 * SEC);
}
END_TEST

static const struct {
	const char *text;
	uint64_t left_usec;
} graces[] = {
	{ "[web]\ncommand = x\nstop-timeout = infinity\n", 38 * SEC },
	{ "[swansong]\nshutdown-timeout = 20s\n[web]\ncommand = x\nstop-timeout = infinity\n",
	  20 * SEC },
	{ "[swansong]\nshutdown-timeout = infinity\n[web]\ncommand = x\nstop-timeout = infinity\n",
	  38 * SEC },
};

START_TEST(grace_is_a_budget_of_the_root_alone)
{
	begin(graces[_i].text);
	ctx.grace_usec = 40 * SEC;
	stop("web");
	expect_left("web", USEC_INFINITY);
	stop("root");
	expect_left("web", graces[_i].left_usec);
}
END_TEST

static void limit(const char *path, uint64_t usec)
{
	struct goals goals;

	goals_begin(&goals, &tree, CAUSE_OPERATOR);
	goals.until_usec = goals.usec + usec;
	goals_lower(&goals, find(path), REQUEST_STOP, "test");
	goals_commit(&goals);
	turns();
}

/* --- priorities, and more time --- */

START_TEST(lower_stop_priority_is_killed_early)
{
	begin("[swansong]\nshutdown-timeout = 20s\n"
	      "[low]\ncommand = x\nafter = mid\nstop-priority = -1\n"
	      "[mid]\ncommand = x\nafter = high\n"
	      "[high]\ncommand = x\nstop-priority = 1\n");
	stop("root");
	/* At once. */
	ck_assert_uint_lt(find("low")->kill_usec, tree.root->stop_usec + SEC);
	ck_assert_uint_eq(find("mid")->kill_usec - tree.root->stop_usec, 9 * SEC);
	ck_assert_uint_eq(find("high")->kill_usec - tree.root->stop_usec, 20 * SEC);
}
END_TEST

START_TEST(stop_is_extended_with_all_its_limits)
{
	begin("[swansong]\nshutdown-timeout = 30s\n[g]\nshutdown-timeout = 20s\n[g/a]\ncommand = x\n");
	stop("root");
	expect_left("g/a", 10 * SEC);
	ck_assert_uint_eq(deadline_extend(tree.root, 5 * SEC), 5 * SEC);
	turns();
	expect_left("g/a", 15 * SEC);
	ck_assert_uint_eq(find("g")->kill_usec - tree.root->stop_usec, 25 * SEC);
	ck_assert_uint_eq(tree.root->kill_usec - tree.root->stop_usec, 35 * SEC);
	/* A node below has no more than the root leaves it. */
	ck_assert_uint_eq(deadline_extend(find("g"), 60 * SEC), 10 * SEC);
}
END_TEST

START_TEST(stop_is_not_extended_beyond_the_grace)
{
	begin("[swansong]\nshutdown-timeout = 30s\n[a]\ncommand = x\n");
	ctx.grace_usec = 40 * SEC;
	stop("root");
	ck_assert_uint_eq(deadline_extend(tree.root, 60 * SEC), 8 * SEC);
	ck_assert_uint_eq(deadline_extend(tree.root, 60 * SEC), 0);
	ck_assert(!deadline_hold(tree.root, clock_now_usec()));
	ctx.parent_waits = true;
	ck_assert_uint_eq(deadline_extend(tree.root, 60 * SEC), 60 * SEC);
}
END_TEST

START_TEST(limit_of_a_request_bounds_what_follows)
{
	begin("[swansong]\nshutdown-timeout = 30s\n[a]\ncommand = x\n");
	stop("root");
	limit("root", 12 * SEC);
	ck_assert_uint_eq(deadline_extend(tree.root, 60 * SEC), 0);
}
END_TEST

static const char chain[] = "[swansong]\nshutdown-timeout = 90s\n"
			    "[db]\ncommand = x\nstop-timeout = 5s\n"
			    "[web]\ncommand = x\nstop-timeout = infinity\nrequires = db\n";

START_TEST(request_limits_the_budgets_of_a_stop_in_progress)
{
	begin(chain);
	stop("root");
	expect_left("web", 85 * SEC);
	pass(10 * SEC);
	limit("root", 30 * SEC);
	expect("db waiting, web stopping");
	expect_left("web", 25 * SEC);
	limit("root", 60 * SEC);
	expect_left("web", 25 * SEC);
	limit("root", 15 * SEC);
	expect_left("web", 10 * SEC);
	pass(10 * SEC);
	expect("web killing");
	ends("web", 0);
	expect("db stopping");
	expect_left("db", 5 * SEC);
}
END_TEST

START_TEST(request_limits_the_dependents_of_the_node)
{
	begin(chain);
	limit("db", 30 * SEC);
	expect_left("web", 25 * SEC);
	limit("db", 20 * SEC);
	expect_left("web", 15 * SEC);
	ck_assert_uint_eq(tree.root->kill_usec, USEC_INFINITY);
	ends("web", 0);
	expect_left("db", 5 * SEC);
	ends("db", 0);
	/* A Complete node has no budget any more. */
	limit("db", SEC);
	pass(SEC);
	ck_assert(!find("db")->forced);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("budgets");
	TCase *tc = tree_case("budgets");

	tcase_add_test(tc, service_has_no_more_than_the_nodes_above);
	tcase_add_test(tc, nearer_budget_limits_an_ending_that_has_begun);
	tcase_add_test(tc, start_keeps_the_budget_of_an_earlier_run);
	tcase_add_test(tc, commands_after_the_kill_have_their_share);
	tcase_add_test(tc, share_of_a_command_is_at_most_a_third);
	tcase_add_test(tc, service_that_waits_for_its_signal_has_its_stop_timeout);
	tcase_add_test(tc, guard_is_revoked_in_time_for_the_signal_that_waits_for_it);
	tcase_add_test(tc, requirement_that_runs_on_has_no_share);
	tcase_add_test(tc, expired_budget_kills);
	tcase_add_test(tc, example_of_the_manual_is_right);
	tcase_add_test(tc, request_limits_the_budgets_of_a_stop_in_progress);
	tcase_add_test(tc, request_limits_the_dependents_of_the_node);
	tcase_add_loop_test(tc, grace_is_a_budget_of_the_root_alone, 0, ARRAY_SIZE(graces));
	tcase_add_test(tc, lower_stop_priority_is_killed_early);
	tcase_add_test(tc, stop_is_extended_with_all_its_limits);
	tcase_add_test(tc, stop_is_not_extended_beyond_the_grace);
	tcase_add_test(tc, limit_of_a_request_bounds_what_follows);
	suite_add_tcase(s, tc);
	return s;
}
