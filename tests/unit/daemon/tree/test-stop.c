#include "tests/unit/fixtures/daemon/tree-world.h"

/* Blocked starts, the order of signals, and processes that outlive the main process. */

#include "daemon/node/agent.h"
#include "daemon/node/stop-order.h"
#include "daemon/tree/start-order.h"

static const char three[] = "[db]\ncommand = x\nrestart = never\nready = notify\n"
			    "[web]\ncommand = x\nrequires = db\n"
			    "[log]\ncommand = x\nafter = web\n";

static void begin_three(void)
{
	begin(three);
	ready("db");
	expect("db up, web up, log up");
}

/* --- blocked starts --- */

START_TEST(service_does_not_wait_for_a_blocked_one_that_comes_before)
{
	begin(three);
	ck_assert_ptr_eq(start_order_blocker(service("log")), find("web"));
	ends("db", 1);
	expect("db failed, web down, log up");
	ck_assert_ptr_eq(start_order_culprit(service("web")), find("db"));
	ck_assert_int_eq(start("db"), 0);
	ck_assert_ptr_null(start_order_culprit(service("web")));
	ready("db");
	expect("web up, log up");
}
END_TEST

START_TEST(failure_in_a_group_does_not_block_an_after_edge)
{
	begin("[jobs/bad]\ncommand = x\nrestart = never\n[jobs/slow]\ncommand = x\nready = notify\n"
	      "[web]\ncommand = x\nafter = jobs\n");
	ends("jobs/bad", 1);
	expect("jobs/bad failed, jobs/slow starting, web down");
	ck_assert_ptr_eq(start_order_blocker(service("web")), find("jobs"));
	ck_assert_ptr_null(start_order_culprit(service("web")));
	ready("jobs/slow");
	expect("web up");
}
END_TEST

/* --- the words of an agent --- */

static void expect_word(const char *path, const char *word)
{
	ck_assert_str_eq(agent_word_name(agent_word(find(path))), word);
}

START_TEST(agent_replies_drain_before_the_signal_and_down_after_the_end)
{
	begin("[g/a]\ncommand = x\nready = notify\ndrain-delay = 5s\n[g/b]\ncommand = x\n"
	      "[idle]\n");
	expect_word("g", "down");
	ready("g/a");
	expect_word("g", "ready");
	expect_word("root", "ready");
	expect_word("idle", "down"); /* no service */
	stop("g/a");
	expect("g/a draining, g/b up");
	expect_word("g/a", "drain");
	expect_word("g", "drain");
	expect_word("g/b", "ready");
	pass(5 * SEC);
	expect("g/a stopping");
	expect_word("g/a", "drain");
	ends("g/a", 0);
	expect_word("g/a", "down");
	expect_word("g", "down");
	stop("root");
	expect_word("g/a", "down");
	expect_word("g/b", "drain");
	expect_word("root", "drain");
	end_asked();
	expect_word("root", "down");
}
END_TEST

START_TEST(agent_replies_down_after_a_failure_and_drain_in_a_restart)
{
	begin("[a]\ncommand = x\nready = notify\n");
	ready("a");
	ck_assert_int_eq(restart("a"), 0);
	expect_word("a", "drain");
	ends("a", 0);
	expect_word("a", "down");
	ready("a");
	expect_word("a", "ready");
	ends("a", 1);
	expect_word("a", "down");
}
END_TEST

/* --- the weaker edges --- */

#define CACHE "[cache]\ncommand = x\nautostart = no\nready = notify\nrestart = never\n"
#define APP   "[app]\ncommand = x\nautostart = no\nwants = cache\n"
#define DRAIN "[drain]\ncommand = x\nautostart = no\nterm-after = app\n"

static void begin_weak(void)
{
	begin(CACHE APP DRAIN);
	ck_assert_int_eq(start("app"), 0);
	expect("cache starting, app down, drain down");
}

START_TEST(wanted_service_starts_first_and_may_fail)
{
	begin_weak();
	ck_assert_ptr_eq(start_order_blocker(service("app")), find("cache"));
	ends("cache", 1);
	expect("cache failed, app up");
	ck_assert_int_eq(start("cache"), 0);
	ready("cache");
	stop("cache");
	expect("cache stopping, app up");
}
END_TEST

START_TEST(term_after_holds_back_the_signal_alone)
{
	begin_weak();
	ck_assert_int_eq(start("drain"), 0);
	expect("app down, drain up");
	ready("cache");
	stop("root");
	expect("app stopping, drain waiting, cache waiting");
	ck_assert_ptr_eq(stop_order_blocker(find("drain")), find("app"));
	ends("app", 0);
	expect("drain stopping, cache stopping");
}
END_TEST

START_TEST(term_after_of_a_group_holds_back_its_members)
{
	begin("[app]\ncommand = x\n[g]\nterm-after = app\n[g/x]\ncommand = x\n");
	stop("root");
	expect("app stopping, g/x waiting");
	ends("app", 0);
	expect("g/x stopping");
}
END_TEST

START_TEST(term_after_goes_with_the_removed_service)
{
	begin_weak();
	ck_assert_int_eq(start("drain"), 0);
	ready("cache");
	reload(CACHE "[drain]\ncommand = x\nautostart = no\n");
	expect("app stopping");
	ends("app", 0);
	ck_assert_ptr_null(tree_find(&tree, "app"));
	stop("root");
	expect("drain stopping, cache stopping");
}
END_TEST

/* --- the next generation --- */

START_TEST(start_of_dependents_signals_nothing_early)
{
	begin_three();
	stop("db");
	expect("db waiting, web stopping, log up");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(start("web"), 0);
		ck_assert_uint_eq(find("web")->generation, 2 + (unsigned)i);
		expect("db waiting, web stopping");
		ck_assert_ptr_eq(stop_order_blocker(find("db")), find("web"));
		if (i == 0)
			stop("web");
	}
	(void)launched();
	ends("web", 0);
	expect("db stopping, web down");
	ends("db", 0);
	ready("db");
	expect("db up, web up, log up");
	ck_assert_str_eq(launched(), "db web ");
}
END_TEST

START_TEST(next_generation_waits_for_the_final_action)
{
	begin("[g]\nfinal = x\n[g/a]\ncommand = x\n");
	stop("g");
	ck_assert_int_eq(start("g"), 0);
	expect("g/a stopping");
	ends("g/a", 0);
	expect("g/a down");
	ck_assert_ptr_eq(start_order_blocker(service("g/a")), find("g"));
	hook_ends("g", 0);
	expect("g/a up");
	ck_assert_uint_eq(find("g")->generation, 2);
}
END_TEST

/* --- processes that outlive the main process --- */

START_TEST(kill_is_repeated_each_second_and_no_earlier)
{
	struct service *s;
	pid_t pid;

	begin_three();
	s = service("log");
	pid = adopt("log");
	ends("log", 0);
	expect("log cleaning");
	pass(s->timeout_usec - clock_now_usec());
	for (int i = 0; i < 3; i++) {
		uint64_t timeout = s->timeout_usec;

		expect("log cleaning");
		ck_assert_uint_gt(timeout, clock_now_usec() + SEC - SEC / 100);
		ck_assert_uint_le(timeout, clock_now_usec() + SEC);
		service_check_exits(s);
		turns();
		ck_assert_uint_eq(s->timeout_usec, timeout);
		pass(SEC);
	}
	remaining_ends("log", pid);
	turns();
	expect("log done");
}
END_TEST

START_TEST(remaining_process_is_guarded_until_its_children_are_known)
{
	pid_t pid;

	begin_three();
	pid = adopt("log");
	stop("log");
	ends("log", 0);
	remaining_ends("log", pid);
	ck_assert_uint_eq(swansong_guard_count(find("log")->handle), 1);
	pid = adopt("log");
	ck_assert_uint_eq(swansong_guard_count(find("log")->handle), 1);
	remaining_ends("log", pid);
	ck_assert_uint_eq(swansong_guard_count(find("log")->handle), 1);
	turns();
	expect("log down");
	ck_assert(find("log")->complete);
}
END_TEST

START_TEST(remaining_process_belongs_to_the_generation_of_its_run)
{
	pid_t pids[2];

	begin_three();
	stop("log");
	ck_assert_int_eq(start("log"), 0);
	ck_assert_uint_eq(find("log")->generation, 2);
	for (int i = 0; i < 2; i++) {
		pids[i] = adopt("log");
		ck_assert_uint_eq(process_find(&processes, pids[i])->generation, 1);
	}
	ck_assert_uint_eq(swansong_guard_count(find("log")->handle), 0);
	ends("log", 0);
	remaining_ends("log", pids[0]);
	turns();
	expect("log stopping");
	ck_assert_int_eq(find("log")->draining, 1);
	remaining_ends("log", pids[1]);
	turns();
	expect("log up");
	ck_assert_int_eq(find("log")->draining, 0);
}
END_TEST

START_TEST(kept_process_holds_up_only_the_root)
{
	pid_t pid;

	begin("[log]\ncommand = x\nkill-leftovers = no\n[web]\ncommand = x\nrequires = log\n");
	ready("log");
	pid = adopt("log");
	ck_assert_int_eq(restart("log"), 0);
	ends("web", 0);
	ends("log", 0);
	expect("log up, web up");
	ck_assert_uint_eq(find("log")->generation, 2);
	ck_assert_int_eq(find("log")->draining, 0);
	ck_assert(!process_find(&processes, pid)->signalled_usec);
	stop("log");
	ends("web", 0);
	ends("log", 0);
	expect("log down");
	ck_assert(find("log")->complete);
	pass(1000 * SEC);
	ck_assert(!process_find(&processes, pid)->killed);
	stop("");
	ck_assert(!tree.root->complete);
	ck_assert(process_find(&processes, pid)->signalled_usec);
	remaining_ends("log", pid);
	turns();
	ck_assert(tree.root->complete && !tree.root->forced);
}
END_TEST

START_TEST(kept_process_is_killed_at_the_stop_timeout_after_the_root_stops)
{
	pid_t pids[2];

	begin("[log]\ncommand = x\nkill-leftovers = no\nstop-timeout = 3s\n");
	pids[0] = adopt("log");
	ck_assert_int_eq(restart("log"), 0);
	ends("log", 0);
	pids[1] = adopt("log");
	stop("");
	ck_assert(process_find(&processes, pids[0])->signalled_usec);
	ends("log", 0);
	expect("log stopping");
	ck_assert(process_find(&processes, pids[1])->signalled_usec);
	pass(3 * SEC);
	turns();
	for (int i = 0; i < 2; i++) {
		ck_assert(process_find(&processes, pids[i])->killed);
		remaining_ends("log", pids[i]);
	}
	turns();
	ck_assert(tree.root->complete && tree.root->forced);
}
END_TEST

START_TEST(force_kills_kept_processes)
{
	pid_t pid;

	begin("[log]\ncommand = x\nkill-leftovers = no\n");
	pid = adopt("log");
	stop("log");
	ends("log", 0);
	expect("log down");
	ck_assert(find("log")->complete);
	ck_assert(!process_find(&processes, pid)->killed);
	force("log");
	ck_assert(process_find(&processes, pid)->killed);
	remaining_ends("log", pid);
	turns();
	ck_assert(list_is_empty(&service("log")->remaining));
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("stop");
	TCase *tc = tree_case("stop");

	tcase_add_test(tc, service_does_not_wait_for_a_blocked_one_that_comes_before);
	tcase_add_test(tc, failure_in_a_group_does_not_block_an_after_edge);
	tcase_add_test(tc, agent_replies_drain_before_the_signal_and_down_after_the_end);
	tcase_add_test(tc, agent_replies_down_after_a_failure_and_drain_in_a_restart);
	tcase_add_test(tc, wanted_service_starts_first_and_may_fail);
	tcase_add_test(tc, term_after_holds_back_the_signal_alone);
	tcase_add_test(tc, term_after_of_a_group_holds_back_its_members);
	tcase_add_test(tc, term_after_goes_with_the_removed_service);
	tcase_add_test(tc, start_of_dependents_signals_nothing_early);
	tcase_add_test(tc, next_generation_waits_for_the_final_action);
	tcase_add_test(tc, kill_is_repeated_each_second_and_no_earlier);
	tcase_add_test(tc, remaining_process_is_guarded_until_its_children_are_known);
	tcase_add_test(tc, remaining_process_belongs_to_the_generation_of_its_run);
	tcase_add_test(tc, kept_process_holds_up_only_the_root);
	tcase_add_test(tc, kept_process_is_killed_at_the_stop_timeout_after_the_root_stops);
	tcase_add_test(tc, force_kills_kept_processes);
	suite_add_tcase(s, tc);
	return s;
}
