#include "tests/unit/fixtures/daemon/tree-world.h"

/* Nodes and their periods: what a new node begins with, and what a tree leaves behind. */

#include <malloc.h>

#include "daemon/describe/report.h"
#include "daemon/loop/trace.h"
#include "daemon/node/calls.h"

#define GROUP	 "[g]\n[g/a]\ncommand = x\n"
#define REPORTED "[swansong]\nreport = /nonexistent/report\n" GROUP

/* --- new nodes --- */

/* As the daemon does before it makes the tree. */
static void begin_reported(void)
{
	begin(REPORTED);
	report_use(&ctx, tree.config);
}

START_TEST(node_below_a_stopped_one_is_stopped_from_its_beginning)
{
	const struct node *node;

	begin_reported();
	stop("g");
	reload(REPORTED "[g/b]\ncommand = x\n");
	node = find("g/b");
	ck_assert(node_is_stopped(node));
	ck_assert_uint_gt(node->stop_usec, find("g")->stop_usec);
	ck_assert_ptr_nonnull(node->trace);
	ck_assert_uint_eq(node->trace->stop_usec, node->stop_usec);
	ck_assert_uint_eq(node->trace->generation, node->generation);
	ends("g/a", 0);
	ck_assert(find("g")->complete);
	ck_assert_int_eq(tree.root->draining, 0);
}
END_TEST

START_TEST(node_below_a_running_one_has_no_end_yet)
{
	begin_reported();
	reload(REPORTED "[g/b]\ncommand = x\n");
	ck_assert_uint_eq(find("g/b")->stop_usec, 0);
	ck_assert_uint_eq(find("g/b")->trace->stop_usec, 0);
	expect("g/b up");
}
END_TEST

/* --- periods --- */

static struct calls *new_calls(void)
{
	struct calls *calls;

	begin(GROUP);
	ck_assert_int_eq(calls_new(&calls, find("g/a")), 0);
	return calls;
}

START_TEST(period_ends_after_its_time)
{
	struct calls *calls = new_calls();

	calls_begin_period(calls, 5 * SEC);
	pass(4 * SEC);
	ck_assert(!calls->expired);
	pass(SEC);
	ck_assert(calls->expired);
	calls_begin_period(calls, 5 * SEC);
	ck_assert(!calls->expired);
	calls_end_period(calls);
	pass(6 * SEC);
	ck_assert(!calls->expired);
	ck_assert_ptr_null(calls_free(calls));
}
END_TEST

START_TEST(new_period_replaces_the_former)
{
	struct calls *calls = new_calls();

	calls_begin_period(calls, 5 * SEC);
	pass(3 * SEC);
	calls_begin_period(calls, 5 * SEC);
	pass(3 * SEC);
	ck_assert(!calls->expired);
	pass(2 * SEC);
	ck_assert(calls->expired);
	calls_begin_period(calls, USEC_INFINITY);
	pass(1000 * SEC);
	ck_assert(!calls->expired);
	ck_assert_ptr_null(calls_free(calls));
}
END_TEST

/* --- memory --- */

static size_t memory_after_trees(int n)
{
	while (n-- > 0) {
		begin("[a]\ncommand = x\nterm-after = b\n[b]\ncommand = x\nrequires = a\n"
		      "wants = c\n[c]\ncommand = x\nafter = a\n");
		reload("[a]\ncommand = x\n[b]\ncommand = x\nrequires = c\n"
		       "[c]\ncommand = x\nterm-after = b\n");
		finish();
	}
	return mallinfo2().uordblks;
}

/* The first trees fill the caches of the allocator; memory that is lost grows with each. */
START_TEST(trees_with_edges_leave_no_memory_behind)
{
	size_t before, after = memory_after_trees(10);
	int rounds = 0;

	do {
		before = after;
		after = memory_after_trees(10);
	} while (after > before && rounds++ < 30);
	ck_assert_uint_le(after, before);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("node");
	TCase *tc = tree_case("node");

	tcase_add_test(tc, node_below_a_stopped_one_is_stopped_from_its_beginning);
	tcase_add_test(tc, node_below_a_running_one_has_no_end_yet);
	tcase_add_test(tc, period_ends_after_its_time);
	tcase_add_test(tc, new_period_replaces_the_former);
	tcase_add_test(tc, trees_with_edges_leave_no_memory_behind);
	suite_add_tcase(s, tc);
	return s;
}
