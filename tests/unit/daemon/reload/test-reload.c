#include "tests/unit/fixtures/daemon/tree-world.h"

/* Effects of a reload: at once, with the next start, by a restart, or none. */

#include <stdio.h>

#include "base/cleanup.h"
#include "daemon/reload/plan.h"

static const char *command_of(const char *path)
{
	return service(path)->setup.launch.config->argv[0];
}

/* --- keys --- */

START_TEST(change_that_needs_no_new_process_lets_the_service_run_on)
{
	begin("[a]\ncommand = x\n");
	reload("[a]\ncommand = x\nstop-signal = INT\nrestart-limit = 2/1s\nready = tcp:127.0.0.1:1\n");
	reload("[a]\ncommand = x\nstop-signal = INT\nrestart-limit = 2/1s\nready = fd:3\n");
	expect("a up");
	ck_assert(!node_is_stopped(find("a")));
	ck_assert_int_eq(service("a")->stop_signal, SIGINT);
	ck_assert_uint_eq(service("a")->config->restart_limit.count, 2);
	/* The run began without readiness, and is ready already. */
	ck_assert_ptr_null(service("a")->setup.extras->readiness);
	ck_assert_int_eq(restart("a"), 0);
	end_asked();
	expect("a starting");
	ck_assert_ptr_nonnull(service("a")->setup.extras->readiness);
}
END_TEST

START_TEST(autostart_and_timeouts_change_at_once)
{
	static const char yes[] = "[a]\ncommand = x\ndrain-delay = 1s\n[b]\ncommand = x\n",
			  no[] = "[a]\ncommand = x\ndrain-delay = 1s\n"
				 "[b]\ncommand = x\nautostart = no\n";

	begin("[a]\ncommand = x\n[b]\ncommand = x\nautostart = no\n");
	ck_assert_int_eq(tree.root->counts.services, 1);
	reload(yes);
	expect("a up, b up");
	ck_assert_int_eq(tree.root->counts.services, 2);
	reload(no);
	expect("a up, b up");
	stop("b");
	end_asked();
	ck_assert_int_eq(tree.root->counts.services, 1);
	reload(yes);
	expect("b down");
	stop("a");
	expect("a draining");
}
END_TEST

START_TEST(new_service_starts_what_it_requires)
{
	begin("[a]\ncommand = x\nautostart = no\n[b]\ncommand = x\nautostart = no\n");
	reload("[a]\ncommand = x\nautostart = no\n[b]\ncommand = x\nautostart = no\n"
	       "[c]\ncommand = x\nrequires = b\n[d]\ncommand = x\nautostart = no\n");
	expect("a down, b up, c up, d down");
}
END_TEST

/* --- restarts --- */

START_TEST(new_node_has_all_that_belongs_to_it)
{
	begin("[a]\ncommand = x\n");
	reload("[a]\ncommand = x\n[b]\ncommand = x\nschedule = 5min\non-failure-command = x\n"
	       "final = x\n");
	ck_assert_ptr_nonnull(find("b")->timetable);
	ck_assert_ptr_nonnull(find("b")->alert);
	ck_assert_ptr_nonnull(find("b")->final);
}
END_TEST

START_TEST(node_gets_what_its_section_newly_has)
{
	begin("[a]\ncommand = x\n");
	reload("[a]\ncommand = x\nschedule = 5min\non-failure-command = x\nfinal = x\n");
	ck_assert_ptr_nonnull(find("a")->timetable);
	ck_assert_ptr_nonnull(find("a")->alert);
	ck_assert_ptr_nonnull(find("a")->final);
}
END_TEST

START_TEST(change_that_needs_a_new_process_restarts_the_service)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\n");
	reload("[a]\ncommand = y\n[b]\ncommand = x\n");
	expect("a stopping, b up");
	ck_assert_str_eq(command_of("a"), "x");
	ends("a", 0);
	expect("a up");
	ck_assert_str_eq(command_of("a"), "y");
	ck_assert_uint_eq(find("a")->generation, 2);
}
END_TEST

START_TEST(change_in_place_needs_no_new_process)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\nnice = 3\n");
	(void)launched();
	reload("[a]\ncommand = x\ncgroup-pids-max = 50\ncgroup-io-weight = 5\n"
	       "[b]\ncommand = x\nnice = 3\noom-score-adjust = 5\n");
	expect("a up, b up");
	ck_assert(!service_is_outdated(service("a")) && !service_is_outdated(service("b")));
	reload("[a]\ncommand = x\nstop-signal = INT\n[b]\ncommand = x\nnice = 3\n");
	expect("a up, b up");
	ck_assert_str_eq(launched(), "");
}
END_TEST

START_TEST(change_that_needs_a_new_process_forgets_restarts)
{
	begin("[a]\ncommand = x\n");
	ends("a", 1);
	pass(SEC);
	expect("a up");
	ck_assert_uint_eq(service("a")->restarts, 1);
	reload("[a]\ncommand = y\n");
	ends("a", 0);
	expect("a up");
	ck_assert_uint_eq(service("a")->restarts, 0);
}
END_TEST

START_TEST(second_reload_applies_during_the_first)
{
	begin("[a]\ncommand = x\n");
	reload("[a]\ncommand = y\n");
	reload("[a]\ncommand = z\n");
	ends("a", 0);
	expect("a up");
	ck_assert_str_eq(command_of("a"), "z");
	ck_assert_uint_eq(find("a")->generation, 2);
}
END_TEST

START_TEST(change_of_a_stopped_service_starts_nothing)
{
	begin("[a]\ncommand = x\n");
	stop("a");
	reload("[a]\ncommand = y\n");
	ends("a", 0);
	expect("a down");
	ck_assert(find("a")->complete);
	ck_assert_int_eq(start("a"), 0);
	ck_assert_str_eq(command_of("a"), "y");
}
END_TEST

START_TEST(change_of_a_failed_service_starts_it_again)
{
	begin("[a]\ncommand = x\nrestart = never\n");
	ends("a", 1);
	expect("a failed");
	reload("[a]\ncommand = y\nrestart = never\n");
	expect("a up");
	ck_assert_uint_eq(find("a")->generation, 2);
}
END_TEST

START_TEST(restarts_keep_to_the_edges)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\nrequires = a\n");
	(void)launched();
	reload("[a]\ncommand = y\n[b]\ncommand = y\nrequires = a\n");
	expect("a waiting, b stopping");
	ends("b", 0);
	expect("a stopping, b down");
	ends("a", 0);
	ck_assert_str_eq(launched(), "a b ");
}
END_TEST

/* --- rollouts --- */

static void begin_rollout(const char *text)
{
	cleanup(config_unrefp) struct config *config = load(text);
	cleanup(plan_freep) struct plan *plan = NULL;

	ck_assert_int_eq(plan_new(&plan, &tree, config, true), 0);
	ck_assert_int_eq(plan_apply(plan), 0);
	turns();
}

START_TEST(rollout_restarts_no_running_service)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\nrequires = a\n[c]\ncommand = x\n");
	begin_rollout("[a]\ncommand = y\n[b]\ncommand = x\nrequires = a\n[d]\ncommand = x\n");
	expect("a up, b up, c stopping, d up");
	ck_assert_str_eq(command_of("a"), "x");
	ends("c", 0);
	ck_assert_int_eq(restart("a"), 0);
	ends("b", 0);
	ends("a", 0);
	expect("a up, b up, d up");
	ck_assert_str_eq(command_of("a"), "y");
}
END_TEST

START_TEST(outdated_service_that_ends_starts_with_the_new_settings)
{
	begin("[a]\ncommand = x\n");
	begin_rollout("[a]\ncommand = y\n");
	ends("a", 1);
	pass(SEC);
	expect("a up");
	ck_assert_str_eq(command_of("a"), "y");
}
END_TEST

START_TEST(reload_restarts_outdated_services)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\n");
	begin_rollout("[a]\ncommand = y\n[b]\ncommand = x\n");
	reload("[a]\ncommand = y\n[b]\ncommand = x\n");
	expect("a stopping, b up");
	ends("a", 0);
	ck_assert_str_eq(command_of("a"), "y");
	reload("[a]\ncommand = y\n[b]\ncommand = x\n");
	expect("a up, b up");
}
END_TEST

START_TEST(service_is_not_outdated_when_its_settings_come_back)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\n");
	begin_rollout("[a]\ncommand = y\n[b]\ncommand = y\n");
	ck_assert_int_eq(restart("a"), 0);
	ends("a", 0);
	reload("[a]\ncommand = x\n[b]\ncommand = x\n");
	expect("a stopping, b up");
	ends("a", 0);
	ck_assert_str_eq(command_of("a"), "x");
}
END_TEST

START_TEST(service_that_becomes_a_group_is_stopped_by_a_rollout)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\n");
	begin_rollout("[a]\n[b]\ncommand = x\n");
	expect("a stopping, b up");
	ends("a", 0);
	ck_assert_ptr_null(find("a")->service);
}
END_TEST

/* --- sections that are added again --- */

START_TEST(section_that_comes_back_starts_when_its_process_is_gone)
{
	begin("[a]\ncommand = x\n[b]\ncommand = x\n");
	reload("[b]\ncommand = x\n");
	ck_assert_int_eq(find("a")->goal, GOAL_GONE);
	reload("[a]\ncommand = y\n[b]\ncommand = x\nrequires = a\n");
	expect("a stopping, b up");
	ck_assert(!node_is_stopped(find("a")) && !node_is_stopped(find("b")));
	ck_assert_uint_eq(find("a")->generation, 2);
	ends("a", 0);
	expect("a up, b up");
	ck_assert_str_eq(command_of("a"), "y");
}
END_TEST

/* Removed, added and removed again before its process has ended. */
START_TEST(last_reload_decides_on_a_removed_section)
{
	begin("[g/a]\ncommand = x\n[b]\ncommand = x\n");
	reload("[b]\ncommand = x\n");
	reload("[g/a]\ncommand = x\n[b]\ncommand = x\n");
	reload("[b]\ncommand = x\n");
	ends("g/a", 0);
	ck_assert_ptr_null(tree_find(&tree, "g/a"));
	ck_assert_ptr_null(tree_find(&tree, "g"));
}
END_TEST

START_TEST(group_that_comes_back_does_not_wait_for_one_member)
{
	begin("[g/a]\ncommand = x\n[g/b]\ncommand = x\n[c]\ncommand = x\n");
	reload("[c]\ncommand = x\n");
	ends("g/b", 0);
	ck_assert_ptr_null(tree_find(&tree, "g/b"));
	reload("[g/a]\ncommand = x\n[g/b]\ncommand = x\n[c]\ncommand = x\n");
	expect("g/a stopping, g/b up");
	ends("g/a", 0);
	expect("g/a up");
}
END_TEST

/* --- groups and services --- */

START_TEST(group_becomes_a_service)
{
	begin("[a]\n[b]\ncommand = x\n");
	reload("[a]\ncommand = x\n[b]\ncommand = x\n");
	expect("a up");
	ck_assert_uint_eq(find("a")->generation, 1);
	ck_assert_int_eq(tree.root->counts.services, 2);
}
END_TEST

START_TEST(service_becomes_a_group_when_its_process_is_gone)
{
	begin("[a]\ncommand = x\n[a/b]\ncommand = x\n");
	reload("[a]\n[a/b]\ncommand = x\n");
	expect("a stopping, a/b stopping");
	ends("a/b", 0);
	ck_assert_ptr_nonnull(find("a")->service);
	ends("a", 0);
	ck_assert_ptr_null(find("a")->service);
	expect("a/b up");
	ck_assert_int_eq(tree.root->counts.services, 1);
}
END_TEST

START_TEST(service_that_becomes_a_group_and_back_is_restarted)
{
	begin("[a]\ncommand = x\n");
	reload("[a]\n[b]\ncommand = x\n");
	reload("[a]\ncommand = y\n[b]\ncommand = x\n");
	ends("a", 0);
	expect("a up");
	ck_assert_str_eq(command_of("a"), "y");
	ck_assert_uint_eq(find("a")->generation, 2);
}
END_TEST

START_TEST(stopped_service_becomes_a_stopped_group_at_once)
{
	begin("[a]\ncommand = x\n");
	stop("a");
	ends("a", 0);
	reload("[a]\n[b]\ncommand = x\n");
	ck_assert_ptr_null(find("a")->service);
	ck_assert(node_is_stopped(find("a")));
}
END_TEST

/* --- old configurations and plans --- */

/* A pointer into a configuration that is freed is reported by a sanitizer. */
START_TEST(old_configurations_are_freed)
{
	char text[256];

	begin("[a]\ncommand = x\n[b]\ncommand = x\n");
	stop("b");
	end_asked();
	for (int i = 0; i < 50; i++) {
		(void)snprintf(text, sizeof(text),
			       "[a]\ncommand = x\n[b]\ncommand = x\nstop-timeout = %dms\n", i);
		reload(text);
		ck_assert_str_eq(command_of("a"), "x");
		ck_assert_uint_eq(find("b")->config->stop_timeout_usec, (uint64_t)i * 1000);
		ck_assert_uint_eq(tree.config->refs, 1 + 3);
	}
}
END_TEST

static json_t *plan_of(const char *text)
{
	cleanup(config_unrefp) struct config *config = load(text);
	cleanup(plan_freep) struct plan *plan = NULL;

	ck_assert_int_eq(plan_new(&plan, &tree, config, false), 0);
	return plan_json(plan);
}

START_TEST(plan_of_an_outdated_service_leaves_out_what_counts_already)
{
	static const char later[] = "[a]\ncommand = y\nstop-timeout = 7s\n";
	json_t *changes, *list;

	begin("[a]\ncommand = x\n");
	begin_rollout(later);
	changes = plan_of(later);
	list = json_object_get(json_array_get(changes, 0), "keys");
	ck_assert_uint_eq(json_array_size(list), 1);
	ck_assert_str_eq(json_string_value(json_object_get(json_array_get(list, 0), "key")),
			 "command");
	json_decref(changes);
}
END_TEST

START_TEST(plan_shows_what_would_change)
{
	json_t *expected = json_pack(
		"[{s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:[{s:s, s:n, s:s, s:s}]},"
		" {s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:[{s:s, s:s, s:s, s:s}]},"
		" {s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:[]}, {s:s, s:s, s:b, s:b, s:b, s:b, s:b, s:[]}]",
		"kind", "change", "node", "", "service", 0, "autostart", 0, "restart", 0,
		"outdated", 0, "start", 0, "keys", "key", "control-socket", "from", "to", "/s",
		"apply", "daemon", "kind", "change", "node", "a", "service", 1, "autostart", 1,
		"restart", 1, "outdated", 0, "start", 0, "keys", "key", "command", "from", "x y",
		"to", "z", "apply", "restart", "kind", "add", "node", "c", "service", 1,
		"autostart", 0, "restart", 0, "outdated", 0, "start", 0, "keys", "kind", "remove",
		"node", "b", "service", 1, "autostart", 1, "restart", 0, "outdated", 0, "start", 0,
		"keys");
	json_t *changes;

	begin("[a]\ncommand = x y\n[b]\ncommand = x\n");
	ck_assert_ptr_nonnull(expected);
	changes = plan_of("[swansong]\ncontrol-socket = /s\n[a]\ncommand = z\n"
			  "[c]\ncommand = x\nautostart = no\n");
	ck_assert_msg(json_equal(changes, expected), "%s", json_dumps(changes, 0));
	json_decref(changes);
	json_decref(expected);
	ck_assert_ptr_null(tree_find(&tree, "c"));
	ck_assert_int_eq(find("b")->goal, GOAL_UP);
	changes = plan_of("[a]\ncommand = x y\n[b]\ncommand = x\n");
	ck_assert_uint_eq(json_array_size(changes), 0);
	json_decref(changes);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("reload");
	TCase *tc = tree_case("reload");

	tcase_add_test(tc, change_that_needs_no_new_process_lets_the_service_run_on);
	tcase_add_test(tc, autostart_and_timeouts_change_at_once);
	tcase_add_test(tc, new_service_starts_what_it_requires);
	tcase_add_test(tc, new_node_has_all_that_belongs_to_it);
	tcase_add_test(tc, node_gets_what_its_section_newly_has);
	tcase_add_test(tc, change_that_needs_a_new_process_restarts_the_service);
	tcase_add_test(tc, change_in_place_needs_no_new_process);
	tcase_add_test(tc, change_that_needs_a_new_process_forgets_restarts);
	tcase_add_test(tc, second_reload_applies_during_the_first);
	tcase_add_test(tc, change_of_a_stopped_service_starts_nothing);
	tcase_add_test(tc, change_of_a_failed_service_starts_it_again);
	tcase_add_test(tc, restarts_keep_to_the_edges);
	tcase_add_test(tc, rollout_restarts_no_running_service);
	tcase_add_test(tc, outdated_service_that_ends_starts_with_the_new_settings);
	tcase_add_test(tc, reload_restarts_outdated_services);
	tcase_add_test(tc, service_is_not_outdated_when_its_settings_come_back);
	tcase_add_test(tc, service_that_becomes_a_group_is_stopped_by_a_rollout);
	tcase_add_test(tc, section_that_comes_back_starts_when_its_process_is_gone);
	tcase_add_test(tc, last_reload_decides_on_a_removed_section);
	tcase_add_test(tc, group_that_comes_back_does_not_wait_for_one_member);
	tcase_add_test(tc, group_becomes_a_service);
	tcase_add_test(tc, service_becomes_a_group_when_its_process_is_gone);
	tcase_add_test(tc, service_that_becomes_a_group_and_back_is_restarted);
	tcase_add_test(tc, stopped_service_becomes_a_stopped_group_at_once);
	tcase_add_test(tc, old_configurations_are_freed);
	tcase_add_test(tc, plan_shows_what_would_change);
	tcase_add_test(tc, plan_of_an_outdated_service_leaves_out_what_counts_already);
	suite_add_tcase(s, tc);
	return s;
}
