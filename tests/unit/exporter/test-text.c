#include "tests/unit/exporter/test-exporter.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/text.h"
#include "exporter/text/api.h"
#include "exporter/text/html.h"

#define TREE                                                                            \
	"[" NODE("", "running", "") "," NODE("web", "running", "") "," NODE(            \
		"web/api", "running", SERVICE("up", "")) "," NODE("web/old", "running", \
								  SERVICE("failed", "")) "]"

static json_t *member(const json_t *object, const char *name)
{
	return json_object_get(object, name);
}

START_TEST(the_tree_has_each_node_in_the_shape_of_the_daemon)
{
	struct copy copy;
	json_t *tree, *sent = json_of(TREE);

	copy_init(&copy);
	take_nodes(&copy, TREE);
	tree = api_tree(&copy, true, TAKEN);
	ck_assert(json_is_true(member(tree, "up")));
	/* A list that is empty may be left out by the daemon. */
	for (size_t i = 0; i < copy.n; i++) {
		json_t *node = json_array_get(member(tree, "nodes"), i);

		(void)json_object_update_missing(json_array_get(sent, i), node);
		ck_assert(json_equal(node, json_array_get(sent, i)));
	}
	json_decref(tree);
	json_decref(sent);
	copy_done(&copy);
}
END_TEST

START_TEST(a_node_has_the_guards_of_its_subtree_and_events_of_its_own)
{
	struct copy copy;
	json_t *page;

	copy_init(&copy);
	take_nodes(&copy, TREE);
	take_guards(&copy, "[" GUARD("web/api", "1", "") "," GUARD("", "1", "") "]");
	take_events(&copy, "[" EVENT("1", "service", "web/api", "down",
				     "up") "," EVENT("2", "node", "web", "none", "running") "]");
	page = api_node_page(&copy, copy_find(&copy, "web"), true, TAKEN);
	ck_assert_str_eq(json_string_value(member(member(page, "node"), "path")), "web");
	ck_assert_uint_eq(json_array_size(member(page, "guards")), 1);
	ck_assert_uint_eq(json_array_size(member(page, "events")), 1);
	json_decref(page);
	copy_done(&copy);
}
END_TEST

START_TEST(a_shutdown_has_the_services_left_and_the_guards_that_block)
{
	struct copy copy;
	json_t *page;

	copy_init(&copy);
	take_nodes(&copy, TREE);
	take_guards(&copy, "[" GUARD("web/api", "1", "") "]");
	page = api_shutdown(&copy, true, false, TAKEN);
	ck_assert(json_is_false(member(page, "stopping")));
	ck_assert_int_eq(json_integer_value(member(page, "left")), 1);
	ck_assert_int_eq(json_integer_value(member(page, "services")), 2);
	ck_assert_uint_eq(json_array_size(member(page, "guards")), 0);
	json_decref(page);
	take_events(&copy, "[" EVENT("1", "node", "web/api", "running", "shutting_down") "]");
	page = api_shutdown(&copy, true, false, TAKEN);
	ck_assert(json_is_true(member(page, "stopping")));
	ck_assert_uint_eq(json_array_size(member(page, "guards")), 1);
	ck_assert_ptr_null(member(page, "events"));
	json_decref(page);
	page = api_shutdown(&copy, true, true, TAKEN);
	ck_assert_uint_eq(json_array_size(member(page, "events")), 1);
	json_decref(page);
	copy_done(&copy);
}
END_TEST

START_TEST(no_text_of_a_node_becomes_markup)
{
	cleanup(freep) char *text = NULL;
	struct memstream m;
	struct copy copy;

	copy_init(&copy);
	take_nodes(&copy, "[" NODE("<script>\\\"'&\\u0007", "running", SERVICE("failed", "")) "]");
	ck_assert_int_eq(memstream_open(&m), 0);
	html_tree(m.file, &copy, true, TAKEN);
	ck_assert_int_eq(memstream_close(&m, &text), 0);
	ck_assert_ptr_null(strstr(text, "<script>"));
	ck_assert_ptr_nonnull(strstr(text, "data-path=\"&lt;script&gt;&quot;&#39;&amp; \""));
	copy_done(&copy);
}
END_TEST

START_TEST(the_sentence_names_what_has_failed)
{
	cleanup(freep) char *text = NULL;
	struct copy copy;

	copy_init(&copy);
	take_nodes(&copy, TREE);
	text = html_summary(&copy, false);
	ck_assert_str_eq(text, "The daemon does not answer. Last seen: 1 of 2 services are up; "
			       "1 failed: web/old.");
	copy_done(&copy);
}
END_TEST

START_TEST(the_sentence_has_the_rollout_until_that_is_done)
{
	static const char *const states[] = { "paused", "undone", "done" };
	static const char *const texts[] = {
		"1 of 2 services are up; rollout paused: web died; 1 failed: web/old.",
		"1 of 2 services are up; rollout undone: web died; 1 failed: web/old.",
		"1 of 2 services are up; 1 failed: web/old.",
	};
	struct copy copy;

	copy_init(&copy);
	take_nodes(&copy, TREE);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		cleanup(freep) char *text = NULL;

		json_decref(copy.rollout);
		copy.rollout = json_pack("{s:s, s:s}", "state", states[i], "reason", "web died");
		text = html_summary(&copy, true);
		ck_assert_str_eq(text, texts[i]);
	}
	copy_done(&copy);
}
END_TEST

TCase *text_tests(void)
{
	TCase *tests = tcase_create("text");

	tcase_add_test(tests, the_tree_has_each_node_in_the_shape_of_the_daemon);
	tcase_add_test(tests, a_node_has_the_guards_of_its_subtree_and_events_of_its_own);
	tcase_add_test(tests, a_shutdown_has_the_services_left_and_the_guards_that_block);
	tcase_add_test(tests, no_text_of_a_node_becomes_markup);
	tcase_add_test(tests, the_sentence_names_what_has_failed);
	tcase_add_test(tests, the_sentence_has_the_rollout_until_that_is_done);
	return tests;
}
