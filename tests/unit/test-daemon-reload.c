#include "reloaded-tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "daemon/order.h"
#include "daemon/plan.h"
#include "daemon/setup.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"

START_TEST(what_needs_no_new_process_runs_on)
{
	begin("[a]\ncommand = x\n");
	run("a");
	reload("[a]\ncommand = x\nstop-signal = INT\nrestart-limit = 2/1s\nready = tcp:127.0.0.1:1\n");
	turn();
	reload("[a]\ncommand = x\nstop-signal = INT\nrestart-limit = 2/1s\nready = fd:3\n");
	turn();
	ck_assert_int_eq(service("a")->state, STATE_UP);
	ck_assert(!node_is_stopped(find("a")));
	ck_assert_int_eq(service("a")->stop_signal, SIGINT);
	ck_assert_uint_eq(service("a")->config->restart_limit.count, 2);
	/* It was begun without, and is ready already. */
	ck_assert_ptr_null(service("a")->readiness);
	service_use_next_setup(service("a"));
	ck_assert_ptr_nonnull(service("a")->readiness);
	shutdown_stop(&tree, tree.root, "test");
	end("a");
	finish();
}
END_TEST

START_TEST(what_is_waited_for_and_counted_changes_at_once)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\nautostart = no\n");
	run("a");
	ck_assert_uint_eq(tree.root->services, 1);
	reload("[a]\ncommand = x\ndrain-delay = 1s\n[b]\ncommand = x\n");
	ck_assert_uint_eq(tree.root->services, 2);
	/* Else who waits for the tree would do so until somebody starts it. */
	ck_assert(service("b")->wanted);
	reload("[a]\ncommand = x\ndrain-delay = 1s\n[b]\ncommand = x\nautostart = no\n");
	ck_assert(service("b")->wanted);
	shutdown_stop(&tree, find("b"), "test");
	ck_assert_uint_eq(tree.root->services, 1);
	reload("[a]\ncommand = x\ndrain-delay = 1s\n[b]\ncommand = x\n");
	ck_assert(!service("b")->wanted);
	service("a")->main.alive = true;
	shutdown_stop(&tree, find("a"), "test");
	ck_assert_int_eq(service("a")->state, STATE_DRAINING);
	service("a")->main.alive = false;
	end("a");
	finish();
}
END_TEST

START_TEST(what_is_new_wakes_what_it_requires)
{
	begin("[a]\ncommand = x\nautostart = no\n[b]\ncommand = x\nautostart = no\n");
	reload("[a]\ncommand = x\nautostart = no\n[b]\ncommand = x\nautostart = no\n"
	       "[c]\ncommand = x\nrequires = b\n[d]\ncommand = x\nautostart = no\n");
	ck_assert(service("c")->wanted && service("b")->wanted);
	ck_assert(!service("a")->wanted && !service("d")->wanted);
	finish();
}
END_TEST

START_TEST(what_needs_a_new_process_is_restarted)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\n");
	run("a");
	run("b");
	reload("[a]\ncommand = y\n[b]\ncommand = x\n");
	ck_assert_int_eq(service("a")->state, STATE_STOPPING);
	ck_assert_int_eq(service("b")->state, STATE_UP);
	ck_assert_str_eq(service("a")->launch.config->argv[0], "x");
	end("a");
	is_back("a", 2);
	run("a");
	ck_assert_str_eq(service("a")->launch.config->argv[0], "y");
	end("a");
	end("b");
	finish();
}
END_TEST

/* The second comes while the first is being carried out; the last word counts. */
START_TEST(two_reloads_in_a_row_are_one)
{
	begin("[a]\ncommand = x\n");
	run("a");
	reload("[a]\ncommand = y\n");
	reload("[a]\ncommand = z\n");
	end("a");
	is_back("a", 2);
	run("a");
	ck_assert_str_eq(service("a")->launch.config->argv[0], "z");
	end("a");
	finish();
}
END_TEST

START_TEST(a_change_during_the_stop_starts_nothing)
{
	begin("[a]\ncommand = x\n");
	run("a");
	shutdown_stop(&tree, find("a"), "test");
	reload("[a]\ncommand = y\n");
	end("a");
	ck_assert(find("a")->complete);
	ck_assert(!service("a")->wanted);
	ck_assert_int_eq(starting_begin(find("a")), 0);
	run("a");
	ck_assert_str_eq(service("a")->launch.config->argv[0], "y");
	end("a");
	finish();
}
END_TEST

START_TEST(what_has_failed_is_tried_again)
{
	begin("[a]\ncommand = x\n");
	run("a");
	service_handle(service("a"), EVENT_FAIL);
	process_remove(&service("a")->main);
	reload("[a]\ncommand = y\n");
	turn();
	is_back("a", 2);
	ck_assert_int_eq(service("a")->state, STATE_DOWN);
	finish();
}
END_TEST

START_TEST(restarts_keep_to_the_edges)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\nrequires = a\n");
	run("a");
	run("b");
	reload("[a]\ncommand = y\n[b]\ncommand = y\nrequires = a\n");
	ck_assert_int_eq(service("a")->state, STATE_GATED);
	ck_assert_int_eq(service("b")->state, STATE_STOPPING);
	end("b");
	is_back("b", 2);
	ck_assert_ptr_eq(order_start_blocker(service("b")), find("a"));
	ck_assert_int_eq(service("a")->state, STATE_STOPPING);
	end("a");
	is_back("a", 2);
	finish();
}
END_TEST

START_TEST(a_section_that_comes_back_waits_for_its_process)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\n");
	run("a");
	reload("[b]\ncommand = x\n");
	ck_assert(find("a")->retired);
	reload("[a]\ncommand = y\n[b]\ncommand = x\nrequires = a\n");
	ck_assert(!find("a")->retired);
	ck_assert(!node_is_stopped(find("b")));
	ck_assert_int_eq(service("a")->state, STATE_STOPPING);
	end("a");
	is_back("a", 2);
	run("a");
	ck_assert_str_eq(service("a")->launch.config->argv[0], "y");
	end("a");
	finish();
}
END_TEST

/* Gone, back and gone again, before its process has heard of the first. */
START_TEST(the_last_word_counts_for_what_is_gone)
{
	begin("[g/a]\ncommand = x\n[b]\ncommand = x\n");
	run("g/a");
	reload("[b]\ncommand = x\n");
	reload("[g/a]\ncommand = x\n[b]\ncommand = x\n");
	reload("[b]\ncommand = x\n");
	end("g/a");
	ck_assert_ptr_null(tree_find(&tree, "g/a"));
	ck_assert_ptr_null(tree_find(&tree, "g"));
	finish();
}
END_TEST

START_TEST(a_tree_that_comes_back_does_so_as_a_whole)
{
	begin("[g/a]\ncommand = x\n[g/b]\ncommand = x\n[c]\ncommand = x\n");
	run("g/a");
	reload("[c]\ncommand = x\n");
	turn();
	ck_assert_ptr_null(tree_find(&tree, "g/b"));
	reload("[g/a]\ncommand = x\n[g/b]\ncommand = x\n[c]\ncommand = x\n");
	ck_assert(node_is_stopped(find("g/b")));
	end("g/a");
	is_back("g/a", 2);
	ck_assert(!node_is_stopped(find("g/b")));
	ck_assert(service("g/b")->wanted);
	finish();
}
END_TEST

START_TEST(a_group_becomes_a_service)
{
	begin("[a]\n[b]\ncommand = x\n");
	reload("[a]\ncommand = x\n[b]\ncommand = x\n");
	is_back("a", 1);
	ck_assert_uint_eq(tree.root->services, 2);
	finish();
}
END_TEST

START_TEST(a_service_becomes_a_group_when_its_process_is_gone)
{
	begin("[a]\ncommand = x\n[a/b]\ncommand = x\n");
	run("a");
	run("a/b");
	reload("[a]\n[a/b]\ncommand = x\n");
	ck_assert_int_eq(service("a")->state, STATE_STOPPING);
	ck_assert(node_is_stopped(find("a/b")));
	end("a/b");
	ck_assert_ptr_nonnull(find("a")->service);
	end("a");
	ck_assert_ptr_null(find("a")->service);
	is_back("a/b", 2);
	ck_assert_uint_eq(tree.root->services, 1);
	finish();
}
END_TEST

START_TEST(a_service_that_becomes_a_group_and_back_is_restarted)
{
	begin("[a]\ncommand = x\n");
	run("a");
	reload("[a]\n[b]\ncommand = x\n");
	reload("[a]\ncommand = y\n[b]\ncommand = x\n");
	end("a");
	is_back("a", 2);
	run("a");
	ck_assert_str_eq(service("a")->launch.config->argv[0], "y");
	end("a");
	finish();
}
END_TEST

START_TEST(an_idle_service_becomes_a_group_at_once)
{
	begin("[a]\ncommand = x\n");
	shutdown_stop(&tree, find("a"), "test");
	turn();
	reload("[a]\n[b]\ncommand = x\n");
	turn();
	ck_assert_ptr_null(find("a")->service);
	ck_assert(node_is_stopped(find("a")));
	finish();
}
END_TEST

/* Whoever keeps a pointer into a configuration that nobody else has shows here, under a sanitizer. */
START_TEST(old_configurations_go)
{
	char text[256];

	begin("[a]\ncommand = x\n[b]\ncommand = x\n");
	run("a");
	for (int i = 0; i < 50; i++) {
		(void)snprintf(text, sizeof(text),
			       "[a]\ncommand = x\n[b]\ncommand = x\nstop-timeout = %dms\n", i);
		reload(text);
		turn();
		ck_assert_str_eq(service("a")->launch.config->argv[0], "x");
		ck_assert_uint_eq(find("b")->config->stop_timeout_usec, (uint64_t)i * 1000);
		ck_assert_uint_eq(tree.config->refs, 1 + 3);
	}
	end("a");
	finish();
}
END_TEST

static json_t *plan_of(const char *text)
{
	cleanup(config_unrefp) struct config *config = load(text);
	cleanup(plan_freep) struct plan *plan = NULL;

	ck_assert_int_eq(plan_new(&plan, &tree, config), 0);
	return plan_json(plan);
}

START_TEST(a_plan_says_what_would_change)
{
	json_t *expected = json_pack(
		"[{s:s, s:s, s:b, s:b, s:b, s:b, s:[{s:s, s:n, s:s, s:s}]},"
		" {s:s, s:s, s:b, s:b, s:b, s:b, s:[{s:s, s:s, s:s, s:s}]},"
		" {s:s, s:s, s:b, s:b, s:b, s:b, s:[]}, {s:s, s:s, s:b, s:b, s:b, s:b, s:[]}]",
		"kind", "change", "node", "", "service", 0, "autostart", 0, "restart", 0, "start",
		0, "keys", "key", "control-socket", "from", "to", "/s", "apply", "daemon", "kind",
		"change", "node", "a", "service", 1, "autostart", 1, "restart", 1, "start", 0,
		"keys", "key", "command", "from", "x y", "to", "z", "apply", "restart", "kind",
		"add", "node", "c", "service", 1, "autostart", 0, "restart", 0, "start", 0, "keys",
		"kind", "remove", "node", "b", "service", 1, "autostart", 1, "restart", 0, "start",
		0, "keys");
	json_t *changes;

	begin("[a]\ncommand = x y\n[b]\ncommand = x\n");
	run("a");
	ck_assert_ptr_nonnull(expected);
	changes = plan_of("[swansong]\ncontrol-socket = /s\n[a]\ncommand = z\n"
			  "[c]\ncommand = x\nautostart = no\n");
	ck_assert_msg(json_equal(changes, expected), "%s", json_dumps(changes, 0));
	json_decref(changes);
	json_decref(expected);
	ck_assert_ptr_null(tree_find(&tree, "c"));
	ck_assert(!find("b")->leaving);
	changes = plan_of("[a]\ncommand = x y\n[b]\ncommand = x\n");
	ck_assert_uint_eq(json_array_size(changes), 0);
	json_decref(changes);
	end("a");
	finish();
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-reload");
	TCase *tc = tcase_create("daemon-reload");

	tcase_add_test(tc, what_needs_no_new_process_runs_on);
	tcase_add_test(tc, what_is_waited_for_and_counted_changes_at_once);
	tcase_add_test(tc, what_is_new_wakes_what_it_requires);
	tcase_add_test(tc, what_needs_a_new_process_is_restarted);
	tcase_add_test(tc, two_reloads_in_a_row_are_one);
	tcase_add_test(tc, a_change_during_the_stop_starts_nothing);
	tcase_add_test(tc, what_has_failed_is_tried_again);
	tcase_add_test(tc, restarts_keep_to_the_edges);
	tcase_add_test(tc, a_section_that_comes_back_waits_for_its_process);
	tcase_add_test(tc, the_last_word_counts_for_what_is_gone);
	tcase_add_test(tc, a_tree_that_comes_back_does_so_as_a_whole);
	tcase_add_test(tc, a_group_becomes_a_service);
	tcase_add_test(tc, a_service_becomes_a_group_when_its_process_is_gone);
	tcase_add_test(tc, a_service_that_becomes_a_group_and_back_is_restarted);
	tcase_add_test(tc, an_idle_service_becomes_a_group_at_once);
	tcase_add_test(tc, old_configurations_go);
	tcase_add_test(tc, a_plan_says_what_would_change);
	suite_add_tcase(s, tc);
	suite_add_tcase(s, order_tests());
	suite_add_tcase(s, walk_tests());
	return s;
}
