#include <string.h>

#include "tests/unit/exporter/test-exporter.h"

#define SETTING(key, value, origin, more) \
	"{\"key\":\"" key "\",\"value\":\"" value "\",\"origin\":\"" origin "\"" more "}"
#define AT(file, line) ",\"section\":\"[a]\",\"file\":\"" file "\",\"line\":" line

static void take_settings(struct shown *shown, const char *list)
{
	json_t *reply = json_pack("{s:o}", "settings", json_of(list));

	shown_take(shown, shown_next(shown), reply);
	json_decref(reply);
}

START_TEST(each_node_is_asked_for_once)
{
	struct shown shown = { NULL };

	ck_assert_ptr_null(shown_next(&shown));
	shown_want(&shown, "a");
	shown_want(&shown, "a");
	shown_want(&shown, "b");
	ck_assert_str_eq(shown_next(&shown), "a");
	ck_assert_ptr_null(shown_get(&shown, "a"));
	take_settings(&shown, "[]");
	ck_assert_uint_eq(json_array_size(shown_get(&shown, "a")), 0);
	ck_assert_ptr_nonnull(shown_get(&shown, "a"));
	ck_assert_str_eq(shown_next(&shown), "b");
	shown_take(&shown, "b", NULL);
	shown_want(&shown, "a");
	shown_want(&shown, "b");
	ck_assert_ptr_null(shown_next(&shown));
	shown_forget(&shown);
	ck_assert_ptr_null(shown_get(&shown, "a"));
	shown_want(&shown, "a");
	ck_assert_str_eq(shown_next(&shown), "a");
	shown_forget(&shown);
}
END_TEST

START_TEST(settings_have_their_places_in_the_order_of_the_files)
{
	static const char list[] = "[" SETTING("a", "1", "section", AT("/etc/x.ini", "9")) "," SETTING(
		"b", "2", "default",
		"") "," SETTING("c", "3", "inherited",
				AT("/etc/x.ini",
				   "2")) "," SETTING("d", "4", "section",
						     "") "," SETTING("e", "first", "section",
								     AT("y.ini",
									"1")) "," SETTING("e",
											  "second",
											  "section",
											  AT("y.ini",
											     "1")) "]";
	static const char wanted[] = "["
				     "{\"key\":\"d\",\"value\":\"4\",\"origin\":\"run\"},"
				     "{\"key\":\"c\",\"value\":\"3\",\"origin\":\"x.ini:2\"},"
				     "{\"key\":\"a\",\"value\":\"1\",\"origin\":\"x.ini:9\"},"
				     "{\"key\":\"e\",\"value\":\"first\",\"origin\":\"y.ini:1\"},"
				     "{\"key\":\"e\",\"value\":\"second\",\"origin\":\"y.ini:1\"}"
				     "]";
	json_t *expected = json_of(wanted);
	struct shown shown = { NULL };

	shown_want(&shown, "");
	take_settings(&shown, list);
	ck_assert_msg(json_equal(shown_get(&shown, ""), expected), "%s",
		      json_dumps(shown_get(&shown, ""), 0));
	json_decref(expected);
	shown_forget(&shown);
}
END_TEST

START_TEST(the_environment_is_hidden)
{
	struct shown shown = { NULL };
	char *text;

	shown_want(&shown, "a");
	take_settings(&shown, "[" SETTING("environment", "PASSWORD=x", "section", "") "]");
	text = json_dumps(shown_get(&shown, "a"), 0);
	ck_assert_ptr_null(strstr(text, "PASSWORD"));
	ck_assert_ptr_nonnull(strstr(text, "\"hidden\": true"));
	free(text);
	shown_forget(&shown);
}
END_TEST

TCase *shown_tests(void)
{
	TCase *tests = tcase_create("shown");

	tcase_add_test(tests, each_node_is_asked_for_once);
	tcase_add_test(tests, settings_have_their_places_in_the_order_of_the_files);
	tcase_add_test(tests, the_environment_is_hidden);
	return tests;
}
