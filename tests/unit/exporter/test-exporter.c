#include "tests/unit/exporter/test-exporter.h"

json_t *json_of(const char *text)
{
	json_t *value = json_loads(text, 0, NULL);

	ck_assert_ptr_nonnull(value);
	return value;
}

void take_nodes(struct copy *copy, const char *nodes)
{
	json_t *array = json_of(nodes);

	ck_assert_int_ge(copy_take_nodes(copy, array, TAKEN), 0);
	json_decref(array);
}

void take_guards(struct copy *copy, const char *guards)
{
	json_t *reply = json_pack("{s:o}", "guards", json_of(guards));

	ck_assert_int_ge(copy_take_guards(copy, reply, TAKEN), 0);
	json_decref(reply);
}

void take_events(struct copy *copy, const char *events)
{
	json_t *array = json_of(events);

	json_decref(copy_take_events(copy, array));
	json_decref(array);
}

Suite *test_suite(void)
{
	Suite *suite = suite_create("exporter");

	suite_add_tcase(suite, copy_tests());
	suite_add_tcase(suite, text_tests());
	add_access_tests(suite);
	suite_add_tcase(suite, metrics_tests());
	suite_add_tcase(suite, action_tests());
	suite_add_tcase(suite, shown_tests());
	suite_add_tcase(suite, stream_tests());
	suite_add_tcase(suite, sandbox_tests());
	add_link_tests(suite);
	add_tail_tests(suite);
	suite_add_tcase(suite, routes_tests());
	suite_add_tcase(suite, past_tests());
	return suite;
}
