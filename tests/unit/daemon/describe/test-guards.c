#include "daemon/describe/describe.h"
#include "tests/unit/fixtures/daemon/tree-world.h"

/* Returns "KIND:ID " of each guard of the node, in the order of the list. */
static const char *guards_of(const char *path)
{
	static char text[512];
	json_t *guards = describe_guards(find(path), false), *guard;
	size_t i, used = 0;

	*text = '\0';
	json_array_foreach (guards, i, guard)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s:%lld ",
					 json_string_value(json_object_get(guard, "kind")),
					 json_integer_value(json_object_get(guard, "id")));
	json_decref(guards);
	return text;
}

START_TEST(ended_main_process_without_a_group_is_no_remaining_one)
{
	begin("[web]\ncommand = x\n");
	ck_assert_str_eq(guards_of("web"), "process:1 ");
	stop("web");
	end_process(service("web"), 0);
	/* The scan for what remains of it is still to come. */
	ck_assert_str_eq(guards_of("web"), "process:1 ");
	turns();
	ck_assert_str_eq(guards_of("web"), "");
}
END_TEST

START_TEST(remaining_process_that_ends_does_not_bring_back_the_main_one)
{
	pid_t pid;

	begin("[web]\ncommand = x\n");
	pid = adopt("web");
	ck_assert_str_eq(guards_of("web"), "process:1 leftover:2 ");
	ends("web", 1);
	ck_assert_str_eq(guards_of("web"), "leftover:2 ");
	remaining_ends("web", pid);
	ck_assert_str_eq(guards_of("web"), "");
	expect("web cleaning");
	turns();
	expect("web backoff");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("guards of a view");
	TCase *tc = tree_case("guards");

	tcase_add_test(tc, ended_main_process_without_a_group_is_no_remaining_one);
	tcase_add_test(tc, remaining_process_that_ends_does_not_bring_back_the_main_one);
	suite_add_tcase(suite, tc);
	return suite;
}
