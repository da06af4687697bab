#include "stated-tree.h"

#include "base/clock.h"
#include "daemon/order.h"
#include "daemon/service-exit.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"

/* --- what cannot start --- */

/* "web" waits in vain for "db": that is to be known, and no reason for "log" to wait as well. */
START_TEST(who_only_comes_after_does_not_wait_for_who_waits_in_vain)
{
	run("db");
	order_want(service("web"));
	service_handle(service("db"), EVENT_FAIL);
	process_remove(&service("db")->main);
	ck_assert_ptr_eq(order_start_blocker(service("log")), find("web"));
	order_pump(&ctx);
	check_counts();
	ck_assert_ptr_eq(order_start_blocker(service("web")), find("db"));
	ck_assert_ptr_eq(order_failed_requirement(service("web")), find("db"));
	ck_assert_ptr_null(order_start_blocker(service("log")));

	run("db");
	check_counts();
	ck_assert_ptr_null(order_start_blocker(service("web")));
	ck_assert_ptr_null(order_failed_requirement(service("web")));
	shutdown_stop(&tree, tree.root, "test");
	end("db");
}
END_TEST

/* A failure that it does not require is none of its. */
START_TEST(who_comes_after_a_failure_is_not_hopeless)
{
	static const struct stated group[] = {
		{ .path = "jobs/bad" },
		{ .path = "jobs/slow" },
		{ .path = "web", .after = "jobs" },
		{ .path = NULL },
	};

	teardown();
	setup_tree(group);
	run("jobs/bad");
	service_handle(service("jobs/bad"), EVENT_FAIL);
	process_remove(&service("jobs/bad")->main);
	order_want(service("jobs/slow"));
	ck_assert_ptr_eq(order_start_blocker(service("web")), find("jobs"));
	ck_assert_ptr_null(order_failed_requirement(service("web")));
}
END_TEST

/* --- the weaker edges --- */

static const struct stated weak[] = {
	{ .path = "cache" },
	{ .path = "app", .wants = "cache" },
	{ .path = "drain", .term_after = "app" },
	{ .path = NULL },
};

START_TEST(what_is_wanted_is_brought_along_but_may_fail)
{
	teardown();
	setup_tree(weak);
	ck_assert_int_eq(starting_begin(find("app")), 0);
	ck_assert(service("cache")->wanted && service("app")->wanted);
	ck_assert(!service("drain")->wanted);
	ck_assert_ptr_eq(order_start_blocker(service("app")), find("cache"));
	run("cache");
	service_handle(service("cache"), EVENT_FAIL);
	process_remove(&service("cache")->main);
	ck_assert_ptr_null(order_start_blocker(service("app")));
	run("app");
	run("cache");
	shutdown_stop(&tree, find("cache"), "test");
	ck_assert(!node_is_stopped(find("app")));
	end("cache");
	shutdown_stop(&tree, tree.root, "test");
	end("app");
}
END_TEST

START_TEST(what_is_term_after_waits_with_its_signal_only)
{
	teardown();
	setup_tree(weak);
	ck_assert_ptr_null(order_start_blocker(service("drain")));
	run_all();
	shutdown_stop(&tree, tree.root, "test");
	ck_assert_int_eq(service("drain")->state, STATE_GATED);
	ck_assert_ptr_eq(order_stop_blocker(service("drain")), find("app"));
	ck_assert_int_eq(service("cache")->state, STATE_GATED);
	end("app");
	ck_assert_int_eq(service("drain")->state, STATE_STOPPING);
	ck_assert_int_eq(service("cache")->state, STATE_STOPPING);
	end("cache");
	end("drain");
}
END_TEST

START_TEST(what_is_term_after_something_else_loses_that_with_it)
{
	static const struct stated rest[] = {
		{ .path = "cache" },
		{ .path = "drain" },
		{ .path = NULL },
	};

	teardown();
	setup_tree(weak);
	run_all();
	reload(rest);
	turn();
	end("app");
	ck_assert_ptr_null(tree_find(&tree, "app"));
	shutdown_stop(&tree, tree.root, "test");
	ck_assert_int_eq(service("drain")->state, STATE_STOPPING);
	end("cache");
	end("drain");
}
END_TEST

/* --- the next generation --- */

/* "web" has its work to end, and needs "db" for that, whatever is to run after. */
START_TEST(a_start_meanwhile_opens_no_gate)
{
	run_all();
	shutdown_stop(&tree, find("db"), "test");
	ck_assert_int_eq(service("db")->state, STATE_GATED);
	ck_assert_int_eq(starting_begin(find("web")), 0);
	ck_assert_uint_eq(find("web")->generation, 2);
	turn();
	ck_assert_int_eq(service("db")->state, STATE_GATED);
	ck_assert_ptr_eq(order_stop_blocker(service("db")), find("web"));
	shutdown_stop(&tree, find("web"), "test");
	ck_assert_int_eq(starting_begin(find("web")), 0);
	turn();
	ck_assert_int_eq(service("db")->state, STATE_GATED);
	end("web");
	turn();
	ck_assert_int_eq(service("db")->state, STATE_STOPPING);
	end("db");
	end("log");
}
END_TEST

/* --- force --- */

START_TEST(a_force_leaves_nothing_of_the_budget)
{
	uint64_t before = clock_now_usec();

	run_all();
	shutdown_force(tree.root);
	ck_assert_uint_eq(tree.root->deadline_usec, USEC_INFINITY);
	shutdown_stop(&tree, tree.root, "test");
	ck_assert_uint_gt(tree.root->deadline_usec, before + USEC_PER_SEC);
	shutdown_force(tree.root);
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		ck_assert_uint_le(n->deadline_usec, clock_now_usec());
	for (const char *const *path = (const char *const[]){ "web", "db", "log", NULL }; *path;
	     path++)
		end(*path);
}
END_TEST

/* --- what is left behind --- */

/* No process has such a number. */
#define NO_PID 0x7ffffff0

START_TEST(what_a_kill_does_not_end_is_killed_again_only_later)
{
	struct service *s = service("log");
	uint64_t now;

	run("log");
	s->main.pid = NO_PID;
	service_handle(s, EVENT_ORPHANED);
	ck_assert_int_eq(s->state, STATE_CLEANING);
	s->ending.limit_usec = now = clock_now_usec();
	service_handle(s, EVENT_TIMEOUT);
	ck_assert_int_eq(s->state, STATE_CLEANING);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_ge(s->timeout_usec, now + USEC_PER_SEC);
		ck_assert_uint_le(s->timeout_usec, clock_now_usec() + USEC_PER_SEC);
		service_handle(s, EVENT_ORPHANED);
	}
	end("log");
}
END_TEST

START_TEST(a_leftover_is_guarded_until_what_it_leaves_is_known)
{
	struct service *s = service("log");
	struct reap_exit exit = { .pid = NO_PID + 1 };

	run("log");
	s->main.pid = NO_PID;
	ck_assert_int_eq(service_adopt(s, NO_PID + 1, NO_PID + 1, "first"), 0);
	service_settle_exit(s);
	shutdown_stop(&tree, find("log"), "test");

	service_process_died(s, process_find(&processes, NO_PID + 1), &exit);
	ck_assert_int_eq(swansong_state(find("log")->handle), SWANSONG_SHUTTING_DOWN);
	ck_assert_int_eq(service_adopt(s, NO_PID + 2, NO_PID + 2, "second"), 0);
	service_settle_exit(s);
	ck_assert_uint_eq(swansong_guard_count(find("log")->handle), 1);

	exit.pid = NO_PID + 2;
	service_process_died(s, process_find(&processes, NO_PID + 2), &exit);
	ck_assert_int_eq(swansong_state(find("log")->handle), SWANSONG_SHUTTING_DOWN);
	service_settle_exit(s);
	turn();
	ck_assert(find("log")->complete);
	ck_assert_int_eq(s->state, STATE_DOWN);
}
END_TEST

START_TEST(a_leftover_is_of_the_generation_of_its_run)
{
	struct service *s = service("log");
	struct reap_exit exit = { .pid = NO_PID + 1 };
	struct process *first, *second;

	run("log");
	s->main.pid = NO_PID;
	shutdown_stop(&tree, find("log"), "test");
	ck_assert_int_eq(starting_begin(find("log")), 0);
	ck_assert_uint_eq(find("log")->generation, 2);
	ck_assert_int_eq(service_adopt(s, NO_PID + 1, NO_PID + 1, "first"), 0);
	service_settle_exit(s);
	ck_assert_int_eq(service_adopt(s, NO_PID + 2, NO_PID + 2, "second"), 0);
	first = process_find(&processes, NO_PID + 1);
	second = process_find(&processes, NO_PID + 2);
	ck_assert_uint_eq(first->generation, 1);
	ck_assert_uint_eq(second->generation, 1);
	ck_assert_uint_eq(swansong_guard_count(find("log")->handle), 0);
	ck_assert(node_is_draining(find("log")));

	service_process_died(s, first, &exit);
	exit.pid = NO_PID + 2;
	service_process_died(s, second, &exit);
	service_settle_exit(s);
	ck_assert(!node_is_draining(find("log")));
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-stop");
	TCase *tc = stated_case("stop");

	tcase_add_test(tc, who_only_comes_after_does_not_wait_for_who_waits_in_vain);
	tcase_add_test(tc, who_comes_after_a_failure_is_not_hopeless);
	tcase_add_test(tc, what_is_wanted_is_brought_along_but_may_fail);
	tcase_add_test(tc, what_is_term_after_waits_with_its_signal_only);
	tcase_add_test(tc, what_is_term_after_something_else_loses_that_with_it);
	tcase_add_test(tc, a_start_meanwhile_opens_no_gate);
	tcase_add_test(tc, a_force_leaves_nothing_of_the_budget);
	tcase_add_test(tc, what_a_kill_does_not_end_is_killed_again_only_later);
	tcase_add_test(tc, a_leftover_is_of_the_generation_of_its_run);
	tcase_add_test(tc, a_leftover_is_guarded_until_what_it_leaves_is_known);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, retired_tests());
	suite_add_tcase(s, restart_tests());
	return s;
}
