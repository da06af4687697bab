#include "tests/unit/fixtures/daemon/tree-world.h"

/* Nodes that come up and nodes that stay down: the promises of daemon/tree/goals.h. */

#include <string.h>

#include "base/macro.h"
#include "daemon/reload/plan.h"
#include "daemon/tree/goals.h"
#include "daemon/tree/start-order.h"

/* --- a stop by request holds --- */

static const char wanting[] = "[x]\ncommand = x\n"
			      "[d]\ncommand = d\n"
			      "[g]\nstrategy = one-for-all\n"
			      "[g/z]\ncommand = z\nwants = x\nrequires = d\nrestart = always\n"
			      "[g/y]\ncommand = y\nrestart = always\n";

START_TEST(restart_of_another_node_keeps_a_stopped_one_down)
{
	begin(wanting);
	stop("x");
	end_asked();
	ck_assert_int_eq(restart("d"), 0);
	end_asked();
	end_asked();
	expect("x down, d up, g/z up");
}
END_TEST

START_TEST(reload_of_a_dependent_keeps_a_stopped_node_down)
{
	begin(wanting);
	stop("x");
	end_asked();
	reload("[x]\ncommand = x\n"
	       "[d]\ncommand = d\n"
	       "[g]\nstrategy = one-for-all\n"
	       "[g/z]\ncommand = other\nwants = x\nrequires = d\nrestart = always\n"
	       "[g/y]\ncommand = y\nrestart = always\n");
	expect("g/z stopping");
	end_asked();
	expect("x down, g/z up");
}
END_TEST

START_TEST(strategy_keeps_a_stopped_node_down)
{
	begin(wanting);
	stop("x");
	end_asked();
	ends("g/y", 1);
	expect("g/z stopping, g/y down");
	end_asked();
	pass(60 * SEC);
	expect("x down, g/z up, g/y up");
}
END_TEST

START_TEST(start_of_a_dependent_raises_a_stopped_node)
{
	begin(wanting);
	stop("x");
	stop("g/z");
	end_asked();
	ck_assert_int_eq(start("g/z"), 0);
	expect("x up, g/z up");
}
END_TEST

START_TEST(start_of_a_dependency_keeps_its_dependents_down)
{
	begin(wanting);
	stop("d");
	end_asked();
	end_asked();
	expect("d down, g/z down");
	ck_assert_int_eq(start("d"), 0);
	expect("d up, g/z down");
}
END_TEST

/* --- a restart raises as a start does --- */

START_TEST(restart_raises_the_same_nodes_as_a_start)
{
	begin("[g/x]\ncommand = x\n[g/y]\ncommand = y\n[z]\ncommand = z\nrequires = g\n");
	stop("g/x");
	end_asked();
	ck_assert_int_eq(restart("z"), 0);
	end_asked();
	expect("g/x up, z up");
}
END_TEST

START_TEST(restart_of_a_node_that_is_down_starts_it)
{
	begin("[g/x]\ncommand = x\n[g/y]\ncommand = y\n");
	stop("g");
	end_asked();
	ck_assert_int_eq(restart("g/x"), 0);
	expect("g/x up, g/y down");
	ck_assert_int_eq(restart("g"), 0);
	end_asked();
	expect("g/x up, g/y up");
}
END_TEST

/* --- the start of a group --- */

START_TEST(start_of_a_group_raises_its_autostart_members)
{
	begin("[far]\ncommand = f\nautostart = no\n"
	      "[near]\ncommand = n\nautostart = no\n"
	      "[g/job]\ncommand = j\nautostart = no\nrequires = far\n"
	      "[g/x]\ncommand = x\nrequires = near\n");
	expect("far down, near up, g/job down, g/x up");
	stop("g");
	stop("near");
	end_asked();
	end_asked();
	ck_assert_int_eq(start("g"), 0);
	expect("far down, near up, g/job down, g/x up");
}
END_TEST

START_TEST(start_of_a_stopped_group_leaves_other_members_idle)
{
	begin("[g/job]\ncommand = j\nautostart = no\n[g/x]\ncommand = x\n");
	ck_assert_int_eq(start("g/job"), 0);
	expect("g/job up");
	ck_assert_int_eq(restart("g"), 0);
	end_asked();
	expect("g/job up, g/x up");
	stop("g");
	end_asked();
	ck_assert_int_eq(start("g"), 0);
	expect("g/job down, g/x up");
}
END_TEST

/* --- a member of a stopped group --- */

START_TEST(member_of_a_stopped_group_starts_alone)
{
	begin("[g/x]\ncommand = x\n[g/y]\ncommand = y\n[g/h/a]\ncommand = a\n[g/h/b]\ncommand = b\n");
	stop("g");
	end_asked();
	ck_assert_int_eq(start("g/h/a"), 0);
	expect("g/x down, g/y down, g/h/a up, g/h/b down");
	ck_assert(!node_is_stopped(find("g")));
	ck_assert(node_is_stopped(find("g/x")));
	ck_assert_int_eq(start("g"), 0);
	expect("g/x up, g/y up, g/h/a up, g/h/b up");
}
END_TEST

START_TEST(member_of_a_stopped_group_starts_for_a_dependent)
{
	begin("[g/x]\ncommand = x\n[g/y]\ncommand = y\n[z]\ncommand = z\nrequires = g/x\n");
	stop("g");
	end_asked();
	end_asked();
	expect("g/x down, z down");
	ck_assert_int_eq(start("z"), 0);
	expect("g/x up, g/y down, z up");
}
END_TEST

START_TEST(section_added_to_a_stopped_group_stays_down)
{
	begin("[g/x]\ncommand = x\n");
	stop("g");
	end_asked();
	reload("[g/x]\ncommand = x\n[g/y]\ncommand = y\n");
	expect("g/x down, g/y down");
	ck_assert_int_eq(start("g"), 0);
	expect("g/x up, g/y up");
}
END_TEST

static bool is_told_to_start(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->n_entries; i++)
		if (strcmp(plan->entries[i].to->path, path) == 0)
			return plan->entries[i].start;
	ck_abort_msg("%s is in no entry", path);
}

START_TEST(plan_shows_that_members_of_a_stopped_group_stay_down)
{
	struct config *config;
	struct plan *plan;

	begin("[g/x]\ncommand = x\n[h/x]\ncommand = x\n");
	stop("g");
	end_asked();
	config = load("[g/x]\ncommand = x\n[g/y]\ncommand = y\n[g/k/z]\ncommand = z\n"
		      "[h/x]\ncommand = x\n[h/y]\ncommand = y\n");
	ck_assert_int_eq(plan_new(&plan, &tree, config, false), 0);
	ck_assert(!is_told_to_start(plan, "g/y"));
	ck_assert(!is_told_to_start(plan, "g/k/z"));
	ck_assert(is_told_to_start(plan, "h/y"));
	plan_free(plan);
	config_unref(config);
}
END_TEST

/* --- requirements --- */

START_TEST(requirement_added_by_a_reload_starts)
{
	begin("[x]\ncommand = x\nautostart = no\n[z]\ncommand = z\n");
	expect("x down, z up");
	reload("[x]\ncommand = x\nautostart = no\n[z]\ncommand = z\nrequires = x\n");
	expect("x up, z up");
}
END_TEST

START_TEST(requirement_that_was_stopped_is_not_started_by_a_reload)
{
	begin("[x]\ncommand = x\n[z]\ncommand = z\n");
	stop("x");
	end_asked();
	reload("[x]\ncommand = x\n[z]\ncommand = z\nrequires = x\n");
	expect("x down, z up");
}
END_TEST

START_TEST(service_that_has_ended_satisfies_no_requirement)
{
	begin("[x]\ncommand = x\n[z]\ncommand = z\nrequires = x\nrestart = always\n");
	ends("x", 0);
	expect("x done, z up");
	(void)launched();
	ck_assert_int_eq(restart("z"), 0);
	end_asked();
	expect("x up, z up");
	ck_assert_str_eq(launched(), "x z ");
}
END_TEST

START_TEST(service_that_has_ended_starts_again_with_a_dependent)
{
	begin("[x]\ncommand = x\n[z]\ncommand = z\nrequires = x\nrestart = always\n");
	ends("x", 0);
	ends("z", 1);
	expect("x done, z backoff");
	pass(60 * SEC);
	expect("x up, z up");
}
END_TEST

START_TEST(service_that_ends_while_a_dependent_waits_starts_with_the_next_start)
{
	begin("[w]\ncommand = w\nready = notify\n"
	      "[x]\ncommand = x\n"
	      "[z]\ncommand = z\nrequires = x\nafter = w\n");
	expect("w starting, x up, z down");
	ends("x", 0);
	ready("w");
	expect("x done, z down");
	ck_assert(service("z")->blocked);
	ck_assert_ptr_eq(start_order_culprit(service("z")), find("x"));
	ck_assert_int_eq(start("z"), 0);
	expect("x up, z up");
}
END_TEST

START_TEST(oneshot_that_is_done_satisfies_a_requirement)
{
	begin("[x]\ncommand = x\ntype = oneshot\n[z]\ncommand = z\nrequires = x\n");
	expect("x starting, z down");
	ends("x", 0);
	expect("x done, z up");
	(void)launched();
	ck_assert_int_eq(restart("z"), 0);
	end_asked();
	ck_assert_str_eq(launched(), "z ");
}
END_TEST

/* --- members that are stopped by hand --- */

static const char grouped[] = "[g/x]\ncommand = x\n[g/h/y]\ncommand = y\n"
			      "[z]\ncommand = z\nrequires = g\nrestart = always\n"
			      "[w@1]\ncommand = w\n[w@2]\ncommand = w\n[w@]\n"
			      "[v]\ncommand = v\nrequires = w@\nrestart = always\n";

/* A dependent that has crashed, or restarts for a reload, comes back without them. */
START_TEST(dependent_comes_back_without_members_that_were_stopped)
{
	static const char *const members[] = { "g/x", "g/h", "w@1" };

	begin(grouped);
	stop(members[_i]);
	end_asked();
	expect("z up, v up");
	ends("z", 1);
	ends("v", 1);
	pass(60 * SEC);
	expect("z up, v up");
	reload("[g/x]\ncommand = x\n[g/h/y]\ncommand = y\n"
	       "[z]\ncommand = other\nrequires = g\nrestart = always\n"
	       "[w@1]\ncommand = w\n[w@2]\ncommand = w\n[w@]\n"
	       "[v]\ncommand = other\nrequires = w@\nrestart = always\n");
	expect("z stopping, v stopping");
	end_asked();
	expect("z up, v up");
	ck_assert(node_is_stopped(find(members[_i])));
}
END_TEST

START_TEST(dependent_does_not_come_back_without_any_member)
{
	begin(grouped);
	stop("g/x");
	stop("g/h");
	end_asked();
	expect("z up");
	ends("z", 1);
	pass(60 * SEC);
	expect("z backoff");
	ck_assert(service("z")->blocked);
	ck_assert_ptr_eq(start_order_culprit(service("z")), find("g/x"));
	ck_assert_int_eq(start("g/x"), 0);
	pass(60 * SEC);
	expect("z up");
}
END_TEST

START_TEST(dependent_does_not_come_back_without_a_member_that_has_failed)
{
	begin("[g/x]\ncommand = x\nrestart = never\n[g/y]\ncommand = y\n"
	      "[z]\ncommand = z\nrequires = g\nrestart = always\n");
	ends("g/x", 1);
	stop("g/y");
	end_asked();
	ends("z", 1);
	pass(60 * SEC);
	expect("g/x failed, z backoff");
	ck_assert(service("z")->blocked);
}
END_TEST

START_TEST(start_of_a_dependent_starts_members_that_were_stopped)
{
	begin(grouped);
	stop("g/x");
	stop("w@1");
	end_asked();
	ck_assert_int_eq(start("z"), 0);
	ck_assert_int_eq(start("v"), 0);
	expect("g/x up, w@1 up");
}
END_TEST

/* --- needs --- */

/* A chain of needs in the order of its sections, and in the opposite one. */
static const char *const chains[] = {
	"[a]\ncommand = a\nwants = b\n"
	"[b]\ncommand = b\nautostart = no\nwants = c\n"
	"[c]\ncommand = c\nautostart = no\nrequires = d\n"
	"[d]\ncommand = d\nautostart = no\n",
	"[d]\ncommand = d\nautostart = no\n"
	"[c]\ncommand = c\nautostart = no\nrequires = d\n"
	"[b]\ncommand = b\nautostart = no\nwants = c\n"
	"[a]\ncommand = a\nwants = b\n",
};

START_TEST(all_that_is_needed_starts_in_any_order_of_sections)
{
	begin(chains[_i]);
	expect("a up, b up, c up, d up");
	ck_assert_str_eq(launched(), "d c b a ");
}
END_TEST

/* --- the order of groups --- */

START_TEST(after_of_a_group_orders_members_that_are_stopped_singly)
{
	struct goals goals;

	begin("[db]\ncommand = d\n[g]\nafter = db\n[g/x]\ncommand = x\n");
	goals_begin(&goals, &tree, CAUSE_OPERATOR);
	goals_lower(&goals, find("db"), REQUEST_STOP, "test");
	goals_lower(&goals, find("g/x"), REQUEST_STOP, "test");
	goals_commit(&goals);
	turns();
	expect("db waiting, g/x stopping");
	ends("g/x", 0);
	expect("db stopping, g/x down");
	end_asked();
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("goals");
	TCase *tc = tree_case("goals");

	tcase_add_test(tc, restart_of_another_node_keeps_a_stopped_one_down);
	tcase_add_test(tc, reload_of_a_dependent_keeps_a_stopped_node_down);
	tcase_add_test(tc, strategy_keeps_a_stopped_node_down);
	tcase_add_test(tc, start_of_a_dependent_raises_a_stopped_node);
	tcase_add_test(tc, start_of_a_dependency_keeps_its_dependents_down);
	tcase_add_test(tc, restart_raises_the_same_nodes_as_a_start);
	tcase_add_test(tc, restart_of_a_node_that_is_down_starts_it);
	tcase_add_test(tc, start_of_a_group_raises_its_autostart_members);
	tcase_add_test(tc, start_of_a_stopped_group_leaves_other_members_idle);
	tcase_add_test(tc, member_of_a_stopped_group_starts_alone);
	tcase_add_test(tc, member_of_a_stopped_group_starts_for_a_dependent);
	tcase_add_test(tc, section_added_to_a_stopped_group_stays_down);
	tcase_add_test(tc, plan_shows_that_members_of_a_stopped_group_stay_down);
	tcase_add_test(tc, requirement_added_by_a_reload_starts);
	tcase_add_test(tc, requirement_that_was_stopped_is_not_started_by_a_reload);
	tcase_add_test(tc, service_that_has_ended_satisfies_no_requirement);
	tcase_add_test(tc, service_that_has_ended_starts_again_with_a_dependent);
	tcase_add_test(tc, service_that_ends_while_a_dependent_waits_starts_with_the_next_start);
	tcase_add_test(tc, oneshot_that_is_done_satisfies_a_requirement);
	tcase_add_loop_test(tc, dependent_comes_back_without_members_that_were_stopped, 0, 3);
	tcase_add_test(tc, dependent_does_not_come_back_without_any_member);
	tcase_add_test(tc, dependent_does_not_come_back_without_a_member_that_has_failed);
	tcase_add_test(tc, start_of_a_dependent_starts_members_that_were_stopped);
	tcase_add_loop_test(tc, all_that_is_needed_starts_in_any_order_of_sections, 0,
			    ARRAY_SIZE(chains));
	tcase_add_test(tc, after_of_a_group_orders_members_that_are_stopped_singly);
	suite_add_tcase(s, tc);
	return s;
}
