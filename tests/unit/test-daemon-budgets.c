/* When all of a node is to have ended, and what each has of that. */
#include "timed-tree.h"

#include "daemon/starting.h"

/* --- budgets --- */

START_TEST(no_child_has_more_than_its_parent)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 90s\n[web]\nshutdown-timeout = 30s\n"
	      "[web/a]\ncommand = x\nshutdown-timeout = 1h\n[b]\ncommand = x\n"
	      "stop-timeout = infinity\n");
	lease = hold("web/a");
	stop("root");
	has_about("web/a", 30 * SEC);
	has_about("b", 90 * SEC);
	release(lease);
	has_about("web/a", 10 * SEC);
}
END_TEST

START_TEST(a_nearer_budget_counts_for_what_has_begun_to_end)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 20s\n[web]\ncommand = x\n"
	      "[slow]\ncommand = x\ndrain-delay = 1min\n");
	lease = hold("web");
	stop("web");
	stop("slow");
	has_about("web", 300 * SEC);
	has_about("slow", 60 * SEC);
	stop("root");
	has_about("web", 20 * SEC);
	/* Its stop-timeout of 10 s is to follow, or a third of all. */
	has_about("slow", 20 * SEC - 20 * SEC / 3);
	release(lease);
}
END_TEST

/* Whatever it is in, and comes to be in, as it is not the next run that is held up by it. */
START_TEST(a_start_leaves_what_is_ending_its_budget)
{
	begin("[swansong]\nshutdown-timeout = 90s\n[g]\nshutdown-timeout = 20s\n"
	      "[g/db]\ncommand = x\nstop-timeout = 1min\n"
	      "[g/web]\ncommand = x\nstop-timeout = 1min\nrequires = g/db\n"
	      "[g/slow]\ncommand = x\ndrain-delay = 5min\nstop-timeout = 1s\n");
	stop("g");
	ck_assert_int_eq(service("g/db")->state, STATE_GATED);
	ck_assert_int_eq(starting_begin(find("g")), 0);
	ck_assert_uint_eq(find("g")->kill_usec, USEC_INFINITY);
	has_about("g/db", 20 * SEC);
	has_about("g/web", 20 * SEC - 20 * SEC / 3);
	has_about("g/slow", 19 * SEC);
	service_handle(service("g/slow"), EVENT_TIMEOUT);
	ck_assert_int_eq(service("g/slow")->state, STATE_GATED);
	has_about("g/slow", 20 * SEC);
	service_handle(service("g/slow"), EVENT_RELEASE);
	has_about("g/slow", 1 * SEC);
	/* By another stop it has no more. */
	stop("g");
	has_about("g/db", 20 * SEC);
	end("g/web");
	has_about("g/db", 20 * SEC);
	/* The next run has its own. */
	end("g/db");
	end("g/slow");
	ck_assert_int_eq(starting_begin(find("g")), 0);
	run(service("g/db"));
	ck_assert_uint_eq(service("g/db")->kept_usec, 0);
	stop("root");
	has_about("g/db", 20 * SEC);
}
END_TEST

START_TEST(what_comes_after_the_kill_has_its_share)
{
	begin("[swansong]\nshutdown-timeout = 90s\nstop-timeout = infinity\n"
	      "final = x\nfinal-timeout = 20s\n"
	      "[web]\nfinal = x\nfinal-timeout = 5s\n"
	      "[web/a]\ncommand = x\npost-stop = x\n[web/b]\ncommand = x\n[c]\ncommand = x\n");
	stop("root");
	has_about("c", 70 * SEC);
	has_about("web/b", 65 * SEC);
	has_about("web/a", 63 * SEC);
	ck_assert_uint_eq(find("web")->deadline_usec, tree.root->kill_usec);
}
END_TEST

START_TEST(it_is_no_more_than_a_third)
{
	begin("[swansong]\nshutdown-timeout = 9s\nstop-timeout = infinity\nfinal = x\n"
	      "[web]\ncommand = x\npost-stop = x\n");
	stop("root");
	has_about("web", 4 * SEC);
}
END_TEST

/* "web" takes all it can get; "db" must not be killed at that moment without having had its signal. */
START_TEST(whose_signal_waits_has_its_stop_timeout_before_the_budget_ends)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 90s\n[db]\ncommand = x\nstop-timeout = 15s\n"
	      "[web]\ncommand = x\nrequires = db\n[disk]\ncommand = x\nterm-after = db\n"
	      "stop-timeout = 5s\n");
	lease = hold("web");
	stop("root");
	ck_assert_int_eq(service("db")->state, STATE_GATED);
	has_about("web", 75 * SEC);
	release(lease);
	end("web");
	ck_assert_int_eq(service("db")->state, STATE_STOPPING);
	has_about("db", 15 * SEC);
	end("db");
	has_about("disk", 5 * SEC);
}
END_TEST

START_TEST(who_goes_on_running_needs_no_share)
{
	struct lease *lease;

	begin("[swansong]\nshutdown-timeout = 90s\n[db]\ncommand = x\n"
	      "[web]\ncommand = x\nshutdown-timeout = 30s\nrequires = db\n");
	lease = hold("web");
	stop("web");
	has_about("web", 30 * SEC);
	release(lease);
}
END_TEST

/* --- the grace --- */

START_TEST(the_example_of_the_manual_is_right)
{
	struct lease *lease;

	begin_within("[swansong]\nshutdown-timeout = 90s\nfinal = x\n"
		     "[data/redis]\ncommand = x\nstop-timeout = 20s\n"
		     "[web]\nshutdown-timeout = 40s\n"
		     "[web/nginx]\ncommand = x\nrequires = data/redis\npost-stop = x\n",
		     60 * SEC);
	lease = hold("web/nginx");
	stop("root");
	has_about("web/nginx", 25 * SEC);
	release(lease);
	has_about("web/nginx", 10 * SEC);
	ck_assert_uint_eq(find("data/redis")->kill_usec - tree.root->stop_usec, 47 * SEC);
	ck_assert_uint_eq(tree.root->deadline_usec - tree.root->stop_usec, 57 * SEC);
}
END_TEST

START_TEST(the_grace_is_a_budget_of_the_root)
{
	begin_within("[web]\ncommand = x\nstop-timeout = infinity\n", 40 * SEC);
	stop("web");
	ck_assert_uint_eq(left("web"), USEC_INFINITY);
	stop("root");
	has_about("web", 38 * SEC);
}
END_TEST

START_TEST(the_nearer_one_counts)
{
	begin_within("[swansong]\nshutdown-timeout = 20s\n"
		     "[web]\ncommand = x\nstop-timeout = infinity\n",
		     40 * SEC);
	stop("root");
	has_about("web", 20 * SEC);
}
END_TEST

START_TEST(a_root_without_a_budget_has_that_one)
{
	begin_within("[swansong]\nshutdown-timeout = infinity\n"
		     "[web]\ncommand = x\nstop-timeout = infinity\n",
		     40 * SEC);
	ck_assert_ptr_nonnull(tree.root->budget);
	stop("root");
	has_about("web", 38 * SEC);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-budgets");
	TCase *tc = timed_case("daemon-budgets");

	tcase_add_test(tc, no_child_has_more_than_its_parent);
	tcase_add_test(tc, a_nearer_budget_counts_for_what_has_begun_to_end);
	tcase_add_test(tc, a_start_leaves_what_is_ending_its_budget);
	tcase_add_test(tc, what_comes_after_the_kill_has_its_share);
	tcase_add_test(tc, it_is_no_more_than_a_third);
	tcase_add_test(tc, whose_signal_waits_has_its_stop_timeout_before_the_budget_ends);
	tcase_add_test(tc, who_goes_on_running_needs_no_share);
	tcase_add_test(tc, the_example_of_the_manual_is_right);
	tcase_add_test(tc, the_grace_is_a_budget_of_the_root);
	tcase_add_test(tc, the_nearer_one_counts);
	tcase_add_test(tc, a_root_without_a_budget_has_that_one);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, busy_tests());
	return s;
}
