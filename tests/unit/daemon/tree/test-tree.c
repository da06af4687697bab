#include "tests/unit/fixtures/daemon/tree-world.h"

/*
 * The tree of nodes and the order of its edges:
 *
 *	data/db ◀── web/app ◀── web/front		web/app also comes after jobs/once
 */

#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/node/stop-order.h"
#include "daemon/tree/converge.h"
#include "daemon/tree/goals.h"
#include "daemon/tree/start-order.h"
#include "daemon/describe/describe.h"

static const char web[] = "[data/db]\ncommand = x\nready = notify\nrestart = never\n"
			  "[web/app]\ncommand = x\nrequires = data/db\nafter = jobs/once\n"
			  "[web/front]\ncommand = x\nrequires = web/app\n"
			  "[jobs/once]\ncommand = x\nready = notify\nrestart = never\n";

static void begin_ready(void)
{
	begin(web);
	ready("data/db");
	ready("jobs/once");
	expect("data/db up, jobs/once up, web/app up, web/front up");
}

/* --- the tree --- */

START_TEST(nodes_are_found_by_path)
{
	begin(web);
	ck_assert_ptr_eq(find(""), tree.root);
	ck_assert_ptr_eq(find("root"), tree.root);
	ck_assert_ptr_eq(find("web/app")->parent, find("web"));
	ck_assert_ptr_null(tree_find(&tree, "web/"));
	ck_assert_ptr_null(tree_find(&tree, "/web"));
	ck_assert_ptr_null(tree_find(&tree, "app"));
	ck_assert_ptr_null(find("web")->service);
}
END_TEST

START_TEST(walk_meets_each_node_once_and_parents_first)
{
	const struct node *met[32];
	size_t n = 0;

	begin(web);
	for (struct node *node = tree.root; node; node = node_next(node, tree.root)) {
		bool parent_met = node == tree.root;

		for (size_t i = 0; i < n; i++) {
			ck_assert_ptr_ne(met[i], node);
			parent_met |= met[i] == node->parent;
		}
		ck_assert(parent_met);
		met[n++] = node;
	}
	ck_assert_uint_eq(n, 8);
	n = 0;
	for (struct node *node = find("web"); node; node = node_next(node, find("web"))) {
		ck_assert(node_is_within(node, find("web")));
		n++;
	}
	ck_assert_uint_eq(n, 3);
	ck_assert_ptr_null(node_next(find("web/app"), find("web/app")));
}
END_TEST

START_TEST(edges_are_known_at_both_ends)
{
	begin(web);
	ck_assert_ptr_eq(node_edges(find("web/app"), EDGE_REQUIRES)[0], find("data/db"));
	ck_assert_ptr_eq(node_edges(find("data/db"), LIST_DEPENDENTS)[0], find("web/app"));
	ck_assert_ptr_eq(node_edges(find("jobs/once"), LIST_DEPENDENTS)[0], find("web/app"));
	ck_assert_ptr_eq(node_edges(find("web/app"), LIST_DEPENDENTS)[0], find("web/front"));
	ck_assert_ptr_null(node_edges(find("web/front"), LIST_DEPENDENTS));
}
END_TEST

/* --- the order of the start --- */

START_TEST(start_waits_for_requires_and_after)
{
	begin(web);
	expect("data/db starting, jobs/once starting, web/app down, web/front down");
	ck_assert_ptr_null(start_order_blocker(service("data/db")));
	ck_assert_ptr_eq(start_order_blocker(service("web/app")), find("data/db"));
	ck_assert_ptr_eq(start_order_blocker(service("web/front")), find("web/app"));
	ready("data/db");
	expect("web/app down");
	ck_assert_ptr_eq(start_order_blocker(service("web/app")), find("jobs/once"));
	(void)launched();
	ready("jobs/once");
	ck_assert_str_eq(launched(), "web/app web/front ");
	ck_assert_ptr_null(start_order_blocker(service("web/app")));
}
END_TEST

START_TEST(failure_blocks_requires_but_not_after)
{
	begin(web);
	ready("data/db");
	ends("jobs/once", 1);
	expect("jobs/once failed, web/app up, web/front up");
	finish();

	begin(web);
	ready("jobs/once");
	ck_assert(converge_is_starting(&tree));
	ends("data/db", 1);
	expect("data/db failed, web/app down, web/front down");
	ck_assert_ptr_eq(start_order_blocker(service("web/app")), find("data/db"));
	ck_assert_ptr_eq(start_order_culprit(service("web/app")), find("data/db"));
	ck_assert_ptr_eq(start_order_culprit(service("web/front")), find("data/db"));
	ck_assert_ptr_null(start_order_culprit(service("data/db")));
	ck_assert(!converge_is_starting(&tree));
}
END_TEST

START_TEST(start_is_refused_once_the_root_is_stopped)
{
	begin_ready();
	stop("root");
	ck_assert_int_eq(start("web/front"), -ESHUTDOWN);
	ck_assert_int_eq(restart("data"), -ESHUTDOWN);
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		ck_assert_uint_eq(n->generation, 1);
	expect("web/front stopping, web/app waiting, data/db waiting");
}
END_TEST

/* --- the stop --- */

START_TEST(stop_is_latched_at_once_and_signals_in_order)
{
	begin_ready();
	goals_lower_one(&tree, tree.root, CAUSE_SHUTDOWN, REQUEST_STOP, "test");
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		ck_assert(node_is_stopped(n));
	turns();
	expect("web/front stopping, web/app waiting, data/db waiting, jobs/once waiting");
	ck_assert_ptr_eq(stop_order_blocker(find("data/db")), find("web/app"));
	ends("web/front", 0);
	expect("web/app stopping, data/db waiting");
	ends("web/app", 0);
	expect("data/db stopping, jobs/once stopping");
	ends("jobs/once", 0);
	ck_assert(!tree.root->complete);
	ends("data/db", 0);
	ck_assert(tree.root->complete);
	ck_assert(!tree.root->forced);
}
END_TEST

START_TEST(dependents_stop_with_their_requirement)
{
	begin_ready();
	stop("data");
	expect("data/db waiting, web/app waiting, web/front stopping, jobs/once up");
	ck_assert(!node_is_stopped(find("web")));
}
END_TEST

START_TEST(service_that_only_comes_after_runs_on)
{
	begin_ready();
	stop("jobs");
	expect("jobs/once stopping, web/app up");
}
END_TEST

START_TEST(force_kills_all_of_a_stopped_tree_and_is_remembered)
{
	static const char *const services[] = { "web/front", "web/app", "data/db", "jobs/once" };

	begin_ready();
	stop("root");
	ck_assert_uint_gt(tree.root->deadline_usec, clock_now_usec() + SEC);
	force("root");
	expect("web/front killing, web/app killing, data/db killing, jobs/once killing");
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		ck_assert_uint_le(n->deadline_usec, clock_now_usec());
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		ck_assert(find(services[i])->forced);
		ends(services[i], 9);
	}
	ck_assert(tree.root->complete && tree.root->forced);
}
END_TEST

START_TEST(force_leaves_a_running_tree_alone)
{
	begin_ready();
	force("root");
	expect("web/front up, web/app up, data/db up, jobs/once up");
	ck_assert(!tree.root->forced);
	ck_assert_uint_eq(tree.root->deadline_usec, USEC_INFINITY);
}
END_TEST

/* --- the status line --- */

START_TEST(line_describes_the_tree)
{
	char line[DESCRIBE_LINE_MAX];
	struct lease *lease;

	begin(web);
	ck_assert_str_eq(describe_line(line, &tree), "Running: 0 of 4 services ready");
	ready("data/db");
	ends("jobs/once", 1);
	ck_assert_str_eq(describe_line(line, &tree),
			 "Running: 3 of 4 services ready; failed: jobs/once");

	lease = hold("root");
	stop("root");
	describe_line(line, &tree);
	ck_assert_ptr_nonnull(strstr(line, "ShuttingDown: 3 of 4 services: "));
	ck_assert_ptr_nonnull(strstr(line, "guard ? \"test\" on root ("));
	ck_assert_ptr_nonnull(strstr(line, "; kill in "));
	release(lease);
	end_asked();
	ck_assert_ptr_eq(strstr(describe_line(line, &tree), "Complete in "), line);
}
END_TEST

START_TEST(line_with_many_names_is_cut)
{
	const struct ucred peer = { .pid = 0 };
	char line[DESCRIBE_LINE_MAX], why[LEASE_WHY_MAX + 1];
	struct lease_wish wish = { .peer = &peer, .why = why, .ttl_usec = USEC_INFINITY };
	struct lease *leases[20];

	begin(web);
	memset(why, 'x', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(leases); i++)
		ck_assert_int_eq(lease_new(&leases[i], tree.root, &wish), 0);
	stop("root");
	ck_assert_uint_eq(strlen(describe_line(line, &tree)), DESCRIBE_LINE_MAX - 1);
	for (size_t i = 0; i < ARRAY_SIZE(leases); i++)
		lease_free(leases[i]);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("tree");
	TCase *tc = tree_case("tree");

	tcase_add_test(tc, nodes_are_found_by_path);
	tcase_add_test(tc, walk_meets_each_node_once_and_parents_first);
	tcase_add_test(tc, edges_are_known_at_both_ends);
	tcase_add_test(tc, start_waits_for_requires_and_after);
	tcase_add_test(tc, failure_blocks_requires_but_not_after);
	tcase_add_test(tc, start_is_refused_once_the_root_is_stopped);
	tcase_add_test(tc, stop_is_latched_at_once_and_signals_in_order);
	tcase_add_test(tc, dependents_stop_with_their_requirement);
	tcase_add_test(tc, service_that_only_comes_after_runs_on);
	tcase_add_test(tc, force_kills_all_of_a_stopped_tree_and_is_remembered);
	tcase_add_test(tc, force_leaves_a_running_tree_alone);
	tcase_add_test(tc, line_describes_the_tree);
	tcase_add_test(tc, line_with_many_names_is_cut);
	suite_add_tcase(s, tc);
	return s;
}
