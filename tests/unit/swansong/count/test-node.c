#include "tests/unit/fixtures/main.h"

#include <stdlib.h>

#include "base/macro.h"
#include <swansong/swansong.h>

/* A root, a node below it, and a node below that. */
static struct swansong *root, *mid, *leaf;

static void make_chain(void)
{
	ck_assert_int_eq(swansong_new(&root), 0);
	ck_assert_int_eq(swansong_child(root, &mid), 0);
	ck_assert_int_eq(swansong_child(mid, &leaf), 0);
}

static void drop_chain(void)
{
	leaf = swansong_unref(leaf);
	mid = swansong_unref(mid);
	root = swansong_unref(root);
}

static struct swansong *child_of(struct swansong *parent)
{
	struct swansong *s;

	ck_assert_int_eq(swansong_child(parent, &s), 0);
	return s;
}

#define ck_assert_state(s, state) ck_assert_int_eq(swansong_state(s), SWANSONG_##state)
#define ck_assert_guards(s, n)	  ck_assert_uint_eq(swansong_guard_count(s), n)

START_TEST(a_new_node_runs_and_has_no_guards)
{
	ck_assert_state(root, RUNNING);
	ck_assert_guards(root, 0);
	ck_assert_state(leaf, RUNNING);
	ck_assert_guards(leaf, 0);
}
END_TEST

START_TEST(a_stop_without_guards_completes_at_once)
{
	swansong_shut_down(root);
	ck_assert_state(root, COMPLETE);
	ck_assert_state(mid, COMPLETE);
	ck_assert_state(leaf, COMPLETE);
}
END_TEST

START_TEST(a_stop_with_a_guard_completes_when_it_is_dropped)
{
	struct swansong_guard g = swansong_guard(root);

	swansong_shut_down(root);
	ck_assert_state(root, SHUTTING_DOWN);
	swansong_guard_drop(&g);
	ck_assert_state(root, COMPLETE);
}
END_TEST

START_TEST(stopping_again_does_nothing)
{
	struct swansong_guard g = swansong_guard(leaf);

	for (int i = 0; i < 3; i++) {
		swansong_shut_down(root);
		swansong_shut_down(leaf);
		ck_assert_state(root, SHUTTING_DOWN);
		ck_assert_guards(root, 1);
	}
	swansong_guard_drop(&g);
	swansong_shut_down(root);
	ck_assert_state(root, COMPLETE);
}
END_TEST

START_TEST(a_stopped_node_never_runs_again)
{
	struct swansong_guard g;

	swansong_shut_down(root);
	g = swansong_guard(leaf);
	ck_assert_int_ne(swansong_state(leaf), SWANSONG_RUNNING);
	swansong_guard_drop(&g);
	ck_assert_int_ne(swansong_state(leaf), SWANSONG_RUNNING);
}
END_TEST

START_TEST(a_late_guard_is_counted_and_the_node_shuts_down_again)
{
	struct swansong_guard g;

	swansong_shut_down(root);
	g = swansong_guard(leaf);
	ck_assert_guards(root, 1);
	ck_assert_state(root, SHUTTING_DOWN);
	ck_assert_state(leaf, SHUTTING_DOWN);
	swansong_guard_drop(&g);
	ck_assert_state(root, COMPLETE);
}
END_TEST

START_TEST(another_reference_is_the_same_node_and_changes_nothing)
{
	struct swansong *again = swansong_ref(root);

	ck_assert_ptr_eq(again, root);
	ck_assert_state(root, RUNNING);
	ck_assert_guards(root, 0);
	ck_assert_ptr_null(swansong_unref(again));
	ck_assert_state(root, RUNNING);
}
END_TEST

START_TEST(a_child_is_not_its_parent)
{
	ck_assert_ptr_ne(mid, root);
}
END_TEST

START_TEST(nothing_is_dropped_without_harm)
{
	struct swansong *none = NULL;

	ck_assert_ptr_null(swansong_unref(NULL));
	swansong_unrefp(&none);
}
END_TEST

START_TEST(the_last_reference_to_a_root_stops_it_and_all_below)
{
	struct swansong_guard g = swansong_guard(leaf);
	struct swansong *again = swansong_ref(root);

	root = swansong_unref(root);
	ck_assert_state(again, RUNNING);
	swansong_unref(again);
	ck_assert_state(mid, SHUTTING_DOWN);
	ck_assert_state(leaf, SHUTTING_DOWN);
	swansong_guard_drop(&g);
	ck_assert_state(leaf, COMPLETE);
}
END_TEST

START_TEST(the_last_reference_to_a_child_stops_nothing)
{
	struct swansong_guard g = swansong_guard(leaf);

	mid = swansong_unref(mid);
	ck_assert_state(root, RUNNING);
	ck_assert_state(leaf, RUNNING);
	ck_assert_guards(root, 1);
	swansong_guard_drop(&g);
}
END_TEST

START_TEST(guards_keep_a_nameless_node_and_count_above)
{
	struct swansong_guard g = swansong_guard(leaf);

	leaf = swansong_unref(leaf);
	mid = swansong_unref(mid);
	ck_assert_guards(root, 1);
	swansong_shut_down(root);
	ck_assert_state(root, SHUTTING_DOWN);
	swansong_guard_drop(&g);
	ck_assert_state(root, COMPLETE);
}
END_TEST

START_TEST(creating_and_dropping_children_shows_nowhere)
{
	struct swansong_guard g = swansong_guard(root);

	for (int i = 0; i < 10; i++) {
		struct swansong *s = child_of(mid);

		ck_assert_state(mid, RUNNING);
		ck_assert_guards(mid, 0);
		ck_assert_guards(root, 1);
		swansong_unref(s);
		ck_assert_state(mid, RUNNING);
		ck_assert_guards(root, 1);
	}
	swansong_guard_drop(&g);
}
END_TEST

START_TEST(a_guard_through_a_discarded_child_equals_one_on_the_parent)
{
	struct swansong *s = child_of(root);
	struct swansong_guard g = swansong_guard(s);

	swansong_unref(s);
	ck_assert_guards(root, 1);
	swansong_shut_down(root);
	ck_assert_state(root, SHUTTING_DOWN);
	swansong_guard_drop(&g);
	ck_assert_state(root, COMPLETE);
	ck_assert_guards(root, 0);
}
END_TEST

START_TEST(a_child_without_guards_delays_no_ancestor)
{
	struct swansong_guard g = swansong_guard(leaf);

	swansong_guard_drop(&g);
	swansong_shut_down(root);
	ck_assert_state(root, COMPLETE);
}
END_TEST

START_TEST(children_are_not_guards)
{
	ck_assert_guards(root, 0);
	swansong_shut_down(root);
	ck_assert_guards(root, 0);
}
END_TEST

START_TEST(a_stop_does_not_go_up_nor_to_the_side)
{
	struct swansong *other = child_of(root);

	swansong_shut_down(mid);
	ck_assert_state(mid, COMPLETE);
	ck_assert_state(leaf, COMPLETE);
	ck_assert_state(root, RUNNING);
	ck_assert_state(other, RUNNING);
	swansong_unref(other);
}
END_TEST

START_TEST(siblings_complete_each_for_itself)
{
	struct swansong *other = child_of(root);
	struct swansong_guard g = swansong_guard(mid);
	struct swansong_guard h = swansong_guard(other);

	swansong_shut_down(root);
	swansong_guard_drop(&g);
	ck_assert_state(mid, COMPLETE);
	ck_assert_state(other, SHUTTING_DOWN);
	ck_assert_state(root, SHUTTING_DOWN);
	swansong_guard_drop(&h);
	ck_assert_state(root, COMPLETE);
	swansong_unref(other);
}
END_TEST

/* Every order of stopping three levels, with a guard on each, dropped in every order. */
START_TEST(counts_and_states_are_those_of_the_subtree_in_every_order)
{
	static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					  { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	const int *stops = orders[_i / 6], *drops = orders[_i % 6];
	struct swansong *node[3] = { root, mid, leaf };
	struct swansong_guard g[3];
	bool held[3] = { true, true, true };
	int stopped_from = 3; /* the topmost stopped level */

	for (int i = 0; i < 3; i++)
		g[i] = swansong_guard(node[i]);
	for (int step = 0; step < 6; step++) {
		if (step % 2 == 0) {
			swansong_shut_down(node[stops[step / 2]]);
			stopped_from = MIN(stopped_from, stops[step / 2]);
		} else {
			swansong_guard_drop(&g[drops[step / 2]]);
			held[drops[step / 2]] = false;
		}
		for (int i = 0, count = 3; i < 3; i++) {
			count = 0;
			for (int j = i; j < 3; j++)
				count += held[j];
			ck_assert_guards(node[i], (unsigned int)count);
			ck_assert_int_eq(swansong_state(node[i]), i < stopped_from
									  ? SWANSONG_RUNNING
								  : count ? SWANSONG_SHUTTING_DOWN
									  : SWANSONG_COMPLETE);
		}
	}
}
END_TEST

START_TEST(guards_of_other_trees_do_not_count)
{
	struct swansong *stranger;
	struct swansong_guard g;

	ck_assert_int_eq(swansong_new(&stranger), 0);
	g = swansong_guard(stranger);
	ck_assert_guards(root, 0);
	swansong_shut_down(root);
	ck_assert_state(root, COMPLETE);
	ck_assert_state(stranger, RUNNING);
	swansong_guard_drop(&g);
	swansong_unref(stranger);
}
END_TEST

START_TEST(the_child_of_a_stopped_node_is_born_stopped)
{
	struct swansong *s, *below;
	struct swansong_guard g, h;

	g = swansong_guard(mid);
	swansong_shut_down(mid);
	s = child_of(mid);
	below = child_of(s);
	ck_assert_state(s, COMPLETE);
	ck_assert_state(below, COMPLETE);
	h = swansong_guard(below);
	ck_assert_state(s, SHUTTING_DOWN);
	ck_assert_guards(mid, 2);
	swansong_shut_down(root);
	ck_assert_guards(root, 2);
	swansong_guard_drop(&g);
	ck_assert_state(root, SHUTTING_DOWN);
	swansong_guard_drop(&h);
	ck_assert_state(root, COMPLETE);
	swansong_unref(below);
	swansong_unref(s);
}
END_TEST

/* A completed but living child keeps being counted. */
START_TEST(a_guard_on_a_completed_child_is_counted_above)
{
	struct swansong_guard g;

	swansong_shut_down(mid);
	ck_assert_state(mid, COMPLETE);
	g = swansong_guard(leaf);
	ck_assert_guards(root, 1);
	swansong_shut_down(root);
	ck_assert_guards(root, 1);
	ck_assert_state(root, SHUTTING_DOWN);
	swansong_guard_drop(&g);
	ck_assert_state(root, COMPLETE);
	g = swansong_guard(leaf);
	ck_assert_guards(root, 1);
	swansong_guard_drop(&g);
}
END_TEST

START_TEST(ancestors_without_names_carry_the_counts)
{
	struct swansong_guard g = swansong_guard(leaf);
	struct swansong *s;

	mid = swansong_unref(mid);
	s = child_of(leaf);
	leaf = swansong_unref(leaf);
	ck_assert_guards(root, 1);
	swansong_guard_drop(&g);
	g = swansong_guard(s);
	s = swansong_unref(s);
	swansong_shut_down(root);
	ck_assert_guards(root, 1);
	swansong_guard_drop(&g);
	ck_assert_state(root, COMPLETE);
}
END_TEST

START_TEST(guards_outlive_everything)
{
	struct swansong_guard g = swansong_guard(leaf);
	struct swansong_guard h = swansong_guard_clone(&g);

	drop_chain();
	swansong_guard_drop(&g);
	swansong_guard_drop(&h);
	make_chain();
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-node");
	TCase *tc = tcase_create("node");

	tcase_add_checked_fixture(tc, make_chain, drop_chain);
	tcase_add_test(tc, a_new_node_runs_and_has_no_guards);
	tcase_add_test(tc, a_stop_without_guards_completes_at_once);
	tcase_add_test(tc, a_stop_with_a_guard_completes_when_it_is_dropped);
	tcase_add_test(tc, stopping_again_does_nothing);
	tcase_add_test(tc, a_stopped_node_never_runs_again);
	tcase_add_test(tc, a_late_guard_is_counted_and_the_node_shuts_down_again);
	tcase_add_test(tc, another_reference_is_the_same_node_and_changes_nothing);
	tcase_add_test(tc, a_child_is_not_its_parent);
	tcase_add_test(tc, nothing_is_dropped_without_harm);
	tcase_add_test(tc, the_last_reference_to_a_root_stops_it_and_all_below);
	tcase_add_test(tc, the_last_reference_to_a_child_stops_nothing);
	tcase_add_test(tc, guards_keep_a_nameless_node_and_count_above);
	tcase_add_test(tc, creating_and_dropping_children_shows_nowhere);
	tcase_add_test(tc, a_guard_through_a_discarded_child_equals_one_on_the_parent);
	tcase_add_test(tc, a_child_without_guards_delays_no_ancestor);
	tcase_add_test(tc, children_are_not_guards);
	tcase_add_test(tc, a_stop_does_not_go_up_nor_to_the_side);
	tcase_add_test(tc, siblings_complete_each_for_itself);
	tcase_add_loop_test(tc, counts_and_states_are_those_of_the_subtree_in_every_order, 0, 36);
	tcase_add_test(tc, guards_of_other_trees_do_not_count);
	tcase_add_test(tc, the_child_of_a_stopped_node_is_born_stopped);
	tcase_add_test(tc, a_guard_on_a_completed_child_is_counted_above);
	tcase_add_test(tc, ancestors_without_names_carry_the_counts);
	tcase_add_test(tc, guards_outlive_everything);
	suite_add_tcase(suite, tc);
	return suite;
}
