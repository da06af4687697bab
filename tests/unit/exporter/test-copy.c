#include "tests/unit/exporter/test-exporter.h"

#include <errno.h>

#define TREE "[" NODE("", "running", "") "," NODE("web", "running", SERVICE("up", "")) "]"

START_TEST(the_same_nodes_are_marked_only_if_they_differ_in_more_than_times)
{
	struct copy copy;
	json_t *later = json_of(TREE), *other;

	copy_init(&copy);
	take_nodes(&copy, TREE);
	ck_assert(copy.nodes[0].changed && copy.nodes[1].changed);
	json_object_set_new(json_array_get(later, 1), "since_usec", json_integer(10));
	other = json_object_get(json_array_get(later, 1), "service");
	json_object_set_new(other, "since_usec", json_integer(11));
	ck_assert_int_eq(copy_take_nodes(&copy, later, TAKEN), 0);
	ck_assert(!copy.nodes[0].changed && !copy.nodes[1].changed);
	ck_assert_uint_eq(copy.nodes[1].view.service.since_usec, 11);
	take_nodes(&copy, "[" NODE("", "running", "") "," NODE("web", "running",
							       SERVICE("failed", "")) "]");
	ck_assert(!copy.nodes[0].changed && copy.nodes[1].changed);
	json_decref(later);
	copy_done(&copy);
}
END_TEST

START_TEST(other_nodes_are_another_tree)
{
	static const char *const others[] = {
		"[]",
		"[" NODE("", "running", "") "]",
		"[" NODE("web", "running", "") "," NODE("", "running", "") "]",
		"[" NODE("", "running", "") "," NODE("app", "running", "") "]",
		"[" NODE("", "running", "") "," NODE("web", "running", "") "," NODE("x", "running",
										    "") "]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct copy copy;
		json_t *nodes = json_of(others[i]);

		copy_init(&copy);
		take_nodes(&copy, TREE);
		ck_assert_int_eq(copy_take_nodes(&copy, nodes, TAKEN), 1);
		ck_assert_uint_eq(copy.n, json_array_size(nodes));
		json_decref(nodes);
		copy_done(&copy);
	}
}
END_TEST

START_TEST(an_invalid_reply_leaves_the_copy_as_it_was)
{
	static const char *const bad[] = {
		"[" NODE("", "running", "") "," NODE("", "running", "") "]",
		"[" NODE("", "asleep", "") "]",
		"[7]",
		"[" NODE("web", "running", SERVICE("up", ",\"pid\":\"7\"")) "]",
	};
	struct copy copy;

	copy_init(&copy);
	take_nodes(&copy, TREE);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		json_t *nodes = json_of(bad[i]), *reply = json_pack("{s:O}", "guards", nodes);

		ck_assert_int_eq(copy_take_nodes(&copy, nodes, TAKEN + 1), -EBADMSG);
		ck_assert_int_eq(copy_take_guards(&copy, reply, TAKEN + 1), -EBADMSG);
		ck_assert_uint_eq(copy.n, 2);
		ck_assert_ptr_eq(copy_find(&copy, "web"), &copy.nodes[1]);
		ck_assert_uint_eq(copy.at_usec, TAKEN);
		json_decref(nodes);
		json_decref(reply);
	}
	copy_done(&copy);
}
END_TEST

START_TEST(ages_grow_and_times_left_shrink)
{
	struct copy copy;
	struct node_view view;
	struct guard_view guard;

	copy_init(&copy);
	take_nodes(&copy, "[" NODE("web", "shutting_down",
				   ",\"deadline_usec\":4000000" SERVICE(
					   "stopping", ",\"next_usec\":1000000")) "]");
	take_guards(&copy, "[" GUARD("web", "1", ",\"kill_usec\":4000000") "]");
	view = copy_node_at(&copy, &copy.nodes[0], TAKEN + 3000000);
	ck_assert_uint_eq(view.since_usec, 12000000);
	ck_assert_uint_eq(view.deadline_usec, 1000000);
	ck_assert_uint_eq(view.service.since_usec, 8000000);
	ck_assert_uint_eq(view.service.next_usec, 0);
	ck_assert_uint_eq(view.service.watchdog_usec, FIELD_NONE);
	guard = copy_guard_at(&copy, &copy.guards[0], TAKEN + 3000000);
	ck_assert_uint_eq(guard.age_usec, 6000000);
	ck_assert_uint_eq(guard.kill_usec, 1000000);
	ck_assert_uint_eq(guard.ttl_usec, FIELD_NONE);
	copy_done(&copy);
}
END_TEST

START_TEST(a_guard_blocks_if_its_node_stops_or_its_run_is_over)
{
	static const struct {
		const char *state, *generation;
		bool blocks;
	} rows[] = {
		{ "running", "1", false },
		{ "running", "0", true },
		{ "shutting_down", "1", true },
		{ "complete", "1", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char nodes[512], guards[256];
		struct copy copy;

		(void)snprintf(nodes, sizeof(nodes), "[" NODE("web", "%s", "") "]", rows[i].state);
		(void)snprintf(guards, sizeof(guards), "[" GUARD("web", "%s", "") "]",
			       rows[i].generation);
		copy_init(&copy);
		take_nodes(&copy, nodes);
		take_guards(&copy, guards);
		ck_assert_int_eq(copy_is_blocking(&copy, &copy.guards[0]), rows[i].blocks);
		copy_done(&copy);
	}
}
END_TEST

START_TEST(events_change_states_and_the_last_ones_are_kept)
{
	struct copy copy;

	copy_init(&copy);
	take_nodes(&copy, TREE);
	take_events(&copy, "[" EVENT("1", "service", "web", "up", "stopping") "," EVENT(
				   "2", "node", "web", "running",
				   "shutting_down") "," EVENT("3", "service", "", "up",
							      "failed") "," EVENT("4", "service",
										  "web", "stopping",
										  "no state") "]");
	ck_assert_str_eq(copy.nodes[1].view.service.state, "stopping");
	ck_assert_int_eq(copy.nodes[1].view.state, NODE_SHUTTING_DOWN);
	ck_assert(copy_is_stopping(&copy));
	for (size_t i = 0; i < COPY_EVENTS; i++) {
		char events[512];

		(void)snprintf(events, sizeof(events),
			       "[" EVENT("%zu", "service", "gone", "up", "down") "]", 9 + i, 9 + i);
		take_events(&copy, events);
	}
	ck_assert_uint_eq(json_array_size(copy.events), COPY_EVENTS);
	copy_done(&copy);
}
END_TEST

/* A long reply may have the state from before an event that came meanwhile. */
START_TEST(an_event_since_the_question_outlasts_the_reply)
{
	struct copy copy;

	copy_init(&copy);
	take_nodes(&copy, TREE);
	copy.asked_usec = 2000000;
	take_events(&copy, "[" EVENT("1", "node", "web", "running", "shutting_down") "," EVENT(
				   "2", "service", "web", "up", "stopping") "]");
	take_nodes(&copy, TREE);
	ck_assert_int_eq(copy.nodes[1].view.state, NODE_RUNNING);
	ck_assert_str_eq(copy.nodes[1].view.service.state, "stopping");
	copy_done(&copy);
}
END_TEST

START_TEST(events_that_come_again_are_known)
{
	static const char first[] = "[" EVENT("5", "service", "web", "up", "stopping") "]";
	static const char both[] = "[" EVENT("5", "service", "web", "up", "stopping") "," EVENT(
		"6", "service", "web", "stopping", "down") "]";
	json_t *events = json_of(both), *fresh;
	struct copy copy;

	copy_init(&copy);
	take_events(&copy, first);
	fresh = copy_take_events(&copy, events);
	ck_assert_uint_eq(json_array_size(fresh), 1);
	ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(fresh, 0), "number")),
			 6);
	json_decref(fresh);
	json_decref(events);
	/* Another daemon begins with the number 0, later. */
	events = json_of("[{\"number\":0,\"time_usec\":7000000,\"kind\":\"service\",\"node\":"
			 "\"web\",\"from\":\"down\",\"to\":\"starting\"}]");
	fresh = copy_take_events(&copy, events);
	ck_assert_uint_eq(json_array_size(fresh), 1);
	ck_assert_uint_eq(json_array_size(copy.events), 1);
	json_decref(fresh);
	json_decref(events);
	copy_done(&copy);
}
END_TEST

#define EVENT_AT(number, time_usec)                                                \
	"{\"number\":" number ",\"time_usec\":" time_usec ",\"kind\":\"service\"," \
	"\"node\":\"web\",\"from\":\"up\",\"to\":\"down\"}"

static size_t count_fresh(struct copy *copy, const char *text)
{
	json_t *events = json_of(text), *fresh = copy_take_events(copy, events);
	size_t n = json_array_size(fresh);

	json_decref(fresh);
	json_decref(events);
	return n;
}

START_TEST(events_are_known_after_the_clock_was_set_back)
{
	struct copy copy;

	copy_init(&copy);
	take_events(&copy, "[" EVENT_AT("0", "9000000") "," EVENT_AT("1", "2000000") "]");
	ck_assert_uint_eq(
		count_fresh(&copy, "[" EVENT_AT("0", "9000000") "," EVENT_AT("1", "2000000") "]"),
		0);
	/* Another daemon. */
	ck_assert_uint_eq(count_fresh(&copy, "[" EVENT_AT("0", "1000000") "]"), 1);
	ck_assert_uint_eq(json_array_size(copy.events), 1);
	copy_done(&copy);
}
END_TEST

START_TEST(guards_have_changed_if_they_differ_in_more_than_times)
{
#define OLDER(node) \
	"{\"id\":1,\"node\":\"" node "\",\"generation\":1,\"kind\":\"lease\",\"age_usec\":9}"
	static const struct {
		const char *guards;
		int changed;
	} steps[] = {
		{ "[" GUARD("web", "1", "") "]", 1 },
		{ "[" GUARD("web", "1", "") "]", 0 },
		{ "[" OLDER("web") "]", 0 },
		{ "[" OLDER("web") "," OLDER("db") "]", 1 },
		{ "[" OLDER("web") "," OLDER("web") "]", 1 },
		{ "[" OLDER("web") "]", 1 },
		{ "[]", 1 },
		{ "[]", 0 },
	};
	struct copy copy;

	copy_init(&copy);
	take_nodes(&copy, TREE);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		json_t *reply = json_pack("{s:o}", "guards", json_of(steps[i].guards));

		ck_assert_int_eq(copy_take_guards(&copy, reply, TAKEN), steps[i].changed);
		json_decref(reply);
	}
	copy_done(&copy);
}
END_TEST

TCase *copy_tests(void)
{
	TCase *tests = tcase_create("copy");

	tcase_add_test(tests, the_same_nodes_are_marked_only_if_they_differ_in_more_than_times);
	tcase_add_test(tests, other_nodes_are_another_tree);
	tcase_add_test(tests, an_invalid_reply_leaves_the_copy_as_it_was);
	tcase_add_test(tests, ages_grow_and_times_left_shrink);
	tcase_add_test(tests, a_guard_blocks_if_its_node_stops_or_its_run_is_over);
	tcase_add_test(tests, events_change_states_and_the_last_ones_are_kept);
	tcase_add_test(tests, an_event_since_the_question_outlasts_the_reply);
	tcase_add_test(tests, events_that_come_again_are_known);
	tcase_add_test(tests, events_are_known_after_the_clock_was_set_back);
	tcase_add_test(tests, guards_have_changed_if_they_differ_in_more_than_times);
	return tests;
}
