#include "main.h"
#include "tree-world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/parse.h"
#include "daemon/describe.h"
#include "daemon/lease.h"
#include "daemon/order.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"
#include "daemon/tree.h"

/*
 * A tree without processes.  What a service would do is said to it as its processes would: only a
 * start is never carried out, as nothing here calls order_pump().
 *
 *	data/db ◀── web/app ◀── web/front		web/app also comes after jobs/once
 */

static struct node_config *add_node(struct config *config, const char *path, bool is_service)
{
	struct node_config *node;

	ck_assert_int_eq(config_add_node(config, path, (struct place){ .file = NULL }, &node), 0);
	if (is_service) {
		ck_assert_int_eq(parse_words("true", &node->argv), 1);
		node->command = strdup("true");
	}
	return node;
}

static struct node_config **one(struct node_config *node)
{
	struct node_config **list = calloc(2, sizeof(*list));

	list[0] = node;
	return list;
}

static void setup(void)
{
	struct node_config *db, *app, *front;
	struct config *config;

	ck_assert_int_eq(config_new(&config), 0);
	db = add_node(config, "data/db", true);
	app = add_node(config, "web/app", true);
	front = add_node(config, "web/front", true);
	node_config_own_edges(app)->nodes[EDGE_REQUIRES] = one(db);
	node_config_own_edges(front)->nodes[EDGE_REQUIRES] = one(app);
	node_config_own_edges(app)->nodes[EDGE_AFTER] = one(add_node(config, "jobs/once", true));

	begin_with(config);
}

/* As service.c does it, with what counts for others. */
static void enter(struct service *s, enum service_state state)
{
	bool ready = service_is_ready(s), settled = service_is_settled(s);

	list_remove(&s->in_waiting); /* as when it was started */
	s->state = state;
	node_count(s->node, 0, service_is_ready(s) - ready, service_is_settled(s) - settled);
}

static void want_all(void)
{
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		if (n->service)
			order_want(n->service);
}

/* --- the tree --- */

START_TEST(nodes_are_found_by_path)
{
	ck_assert_ptr_eq(find(""), tree.root);
	ck_assert_ptr_eq(find("root"), tree.root);
	ck_assert_ptr_eq(find("web/app")->parent, find("web"));
	ck_assert_ptr_null(tree_find(&tree, "web/"));
	ck_assert_ptr_null(tree_find(&tree, "/web"));
	ck_assert_ptr_null(tree_find(&tree, "app"));
	ck_assert_ptr_null(find("web")->service);
}
END_TEST

START_TEST(a_walk_meets_each_node_once_parents_first)
{
	const struct node *met[32];
	size_t n = 0;

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

START_TEST(counts_are_those_of_the_services_below)
{
	enter(service("web/app"), STATE_UP);
	enter(service("data/db"), STATE_DONE);
	enter(service("web/front"), STATE_FAILED);
	check_counts();
}
END_TEST

START_TEST(every_edge_is_known_at_both_ends)
{
	ck_assert_ptr_eq(node_edges(find("web/app"), EDGE_REQUIRES)[0], find("data/db"));
	ck_assert_ptr_eq(node_edges(find("data/db"), LIST_DEPENDENTS)[0], find("web/app"));
	ck_assert_ptr_eq(node_edges(find("jobs/once"), LIST_DEPENDENTS)[0], find("web/app"));
	ck_assert_ptr_eq(node_edges(find("web/app"), LIST_DEPENDENTS)[0], find("web/front"));
	ck_assert_ptr_null(node_edges(find("web/front"), LIST_DEPENDENTS));
}
END_TEST

/* --- the order of the start --- */

START_TEST(a_start_waits_for_what_is_required)
{
	want_all();
	ck_assert_ptr_null(order_start_blocker(service("data/db")));
	ck_assert_ptr_eq(order_start_blocker(service("web/app")), find("data/db"));
	enter(service("data/db"), STATE_STARTING);
	ck_assert_ptr_eq(order_start_blocker(service("web/app")), find("data/db"));
	enter(service("data/db"), STATE_UP);
	ck_assert_ptr_eq(order_start_blocker(service("web/app")), find("jobs/once"));
	enter(service("jobs/once"), STATE_DONE);
	ck_assert_ptr_null(order_start_blocker(service("web/app")));
	ck_assert_ptr_eq(order_start_blocker(service("web/front")), find("web/app"));
}
END_TEST

/* What is required has to be there; what only comes before need not. */
START_TEST(a_failure_is_enough_for_after_only)
{
	want_all();
	enter(service("data/db"), STATE_UP);
	enter(service("jobs/once"), STATE_FAILED);
	ck_assert_ptr_null(order_start_blocker(service("web/app")));
	enter(service("data/db"), STATE_FAILED);
	ck_assert_ptr_eq(order_start_blocker(service("web/app")), find("data/db"));
	ck_assert_ptr_eq(order_failed_requirement(service("web/app")), find("data/db"));
	ck_assert_ptr_eq(order_failed_requirement(service("web/front")), find("data/db"));
	ck_assert_ptr_null(order_failed_requirement(service("data/db")));
}
END_TEST

START_TEST(what_waits_for_a_failure_is_not_under_way)
{
	want_all();
	ck_assert(starting_is_under_way(&tree));
	enter(service("data/db"), STATE_FAILED);
	enter(service("jobs/once"), STATE_DONE);
	ck_assert(!starting_is_under_way(&tree));
}
END_TEST

START_TEST(starting_a_service_starts_what_it_requires)
{
	ck_assert_int_eq(starting_begin(find("web/front")), 0);
	ck_assert(service("web/front")->wanted);
	ck_assert(service("web/app")->wanted);
	ck_assert(service("data/db")->wanted);
	ck_assert(!service("jobs/once")->wanted);
}
END_TEST

START_TEST(nothing_is_started_below_a_stop)
{
	shutdown_stop(&tree, find("data"), "test");
	ck_assert_int_eq(starting_begin(find("data/db")), -ESHUTDOWN);
	ck_assert_int_eq(starting_begin(find("web/front")), -ESHUTDOWN);
	ck_assert(!service("web/front")->wanted);
	ck_assert_int_eq(starting_begin(find("data")), 0);
	ck_assert_uint_eq(find("data/db")->generation, 2);
	ck_assert(!node_is_stopped(find("data/db")));
	ck_assert(service("data/db")->wanted);
}
END_TEST

/* --- the stop --- */

/* It runs: with a guard, as act_spawn() takes it. */
static void run(struct service *s)
{
	s->main.guard = swansong_guard(s->node->handle);
	s->main.generation = s->node->generation;
	enter(s, STATE_UP);
}

static void run_all(void)
{
	want_all();
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		if (n->service)
			run(n->service);
}

static void end(struct service *s)
{
	service_handle(s, EVENT_DONE);
	process_remove(&s->main);
}

START_TEST(a_stop_is_latched_at_once_and_signals_in_order)
{
	run_all();
	shutdown_stop(&tree, tree.root, "test");
	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		ck_assert(node_is_stopped(n));
		ck_assert(!n->service || !n->service->wanted);
	}
	ck_assert_int_eq(service("web/front")->state, STATE_STOPPING);
	ck_assert_int_eq(service("web/app")->state, STATE_GATED);
	ck_assert_int_eq(service("data/db")->state, STATE_GATED);
	ck_assert_int_eq(service("jobs/once")->state, STATE_GATED);
	ck_assert_ptr_eq(order_stop_blocker(service("data/db")), find("web/app"));

	end(service("web/front"));
	order_release(&ctx);
	ck_assert_int_eq(service("web/app")->state, STATE_STOPPING);
	ck_assert_int_eq(service("data/db")->state, STATE_GATED);
	end(service("web/app"));
	order_release(&ctx);
	ck_assert_int_eq(service("data/db")->state, STATE_STOPPING);
	ck_assert_int_eq(service("jobs/once")->state, STATE_STOPPING);
	end(service("jobs/once"));
	ck_assert(!shutdown_follow(&tree));
	end(service("data/db"));
	ck_assert(shutdown_follow(&tree));
	ck_assert(tree.root->complete);
	ck_assert(!tree.root->forced);
}
END_TEST

START_TEST(who_requires_what_stops_stops_too)
{
	run_all();
	shutdown_stop(&tree, find("data"), "test");
	ck_assert(node_is_stopped(find("web/app")));
	ck_assert(node_is_stopped(find("web/front")));
	ck_assert(!node_is_stopped(find("web")));
	ck_assert(!node_is_stopped(find("jobs/once")));
	ck_assert_int_eq(service("jobs/once")->state, STATE_UP);
	ck_assert_int_eq(service("data/db")->state, STATE_GATED);
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		if (n->service)
			end(n->service);
}
END_TEST

/* Coming after something is no need of it. */
START_TEST(who_only_comes_after_runs_on)
{
	run_all();
	shutdown_stop(&tree, find("jobs"), "test");
	ck_assert(!node_is_stopped(find("web/app")));
	ck_assert_int_eq(service("jobs/once")->state, STATE_STOPPING);
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		if (n->service)
			end(n->service);
}
END_TEST

START_TEST(force_kills_what_is_gated_and_is_remembered)
{
	run_all();
	shutdown_stop(&tree, tree.root, "test");
	shutdown_force(tree.root);
	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		if (!n->service)
			continue;
		ck_assert_int_eq(n->service->state, STATE_KILLING);
		ck_assert(n->forced);
		end(n->service);
	}
	ck_assert(shutdown_follow(&tree));
	ck_assert(tree.root->forced);
}
END_TEST

START_TEST(a_force_without_a_stop_does_nothing)
{
	run_all();
	shutdown_force(tree.root);
	ck_assert(!tree.root->forced);
	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		if (!n->service)
			continue;
		ck_assert_int_eq(n->service->state, STATE_UP);
		end(n->service);
	}
}
END_TEST

static int take_lease(struct lease **ret, struct node *node, const char *why)
{
	static const struct unix_peer nobody = { .pid = 0 };

	return lease_new(ret, node,
			 &(struct lease_wish){ .peer = &nobody,
					       .why = why,
					       .ttl_usec = USEC_INFINITY });
}

static void note_revoked(struct lease *lease, enum lease_end how, void *arg)
{
	ck_assert_ptr_null(lease->node);
	ck_assert_int_eq(how, LEASE_REVOKED);
	(*(unsigned *)arg)++;
}

START_TEST(a_lease_holds_the_stop_until_it_ends_or_is_revoked)
{
	struct lease *a, *b;
	unsigned revoked = 0;

	ck_assert_int_eq(take_lease(&a, find("web"), "a"), 0);
	ck_assert_int_eq(take_lease(&b, find("web"), "b"), 0);
	b->lost = note_revoked;
	b->arg = &revoked;
	shutdown_stop(&tree, find("web"), "test");
	(void)shutdown_follow(&tree);
	ck_assert(!find("web")->complete);
	lease_free(a);
	(void)shutdown_follow(&tree);
	ck_assert(!find("web")->complete);
	ck_assert(!find("web")->forced);
	shutdown_force(find("web"));
	ck_assert_uint_eq(revoked, 1);
	(void)shutdown_follow(&tree);
	ck_assert(find("web")->complete);
	ck_assert(find("web")->forced);
	ck_assert(!tree.root->forced); /* it is not being stopped */
	lease_free(b);
}
END_TEST

/* --- the line on all of it --- */

START_TEST(the_line_says_how_it_is)
{
	char line[DESCRIBE_LINE_MAX];
	struct lease *lease;

	ck_assert_str_eq(describe_line(line, &tree), "Running: 0 of 4 services ready");
	run(service("data/db"));
	enter(service("jobs/once"), STATE_FAILED);
	ck_assert_str_eq(describe_line(line, &tree),
			 "Running: 1 of 4 services ready; failed: jobs/once");

	ck_assert_int_eq(take_lease(&lease, tree.root, "nightly"), 0);
	shutdown_stop(&tree, tree.root, "test");
	describe_line(line, &tree);
	ck_assert_ptr_nonnull(strstr(line, "ShuttingDown: 1 of 4 services: "));
	ck_assert_ptr_nonnull(strstr(line, "guard ? \"nightly\" on root ("));
	ck_assert_ptr_nonnull(strstr(line, "; kill in "));
	lease_free(lease);
	end(service("data/db"));
	ck_assert(shutdown_follow(&tree));
	ck_assert_ptr_eq(strstr(describe_line(line, &tree), "Complete in "), line);
}
END_TEST

START_TEST(a_line_with_many_names_is_cut)
{
	char line[DESCRIBE_LINE_MAX], why[LEASE_WHY_MAX + 1];
	struct lease *leases[20];

	memset(why, 'x', sizeof(why) - 1);
	why[sizeof(why) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(leases); i++)
		ck_assert_int_eq(take_lease(&leases[i], tree.root, why), 0);
	shutdown_stop(&tree, tree.root, "test");
	ck_assert_uint_lt(strlen(describe_line(line, &tree)), DESCRIBE_LINE_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(leases); i++)
		lease_free(leases[i]);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-tree");
	TCase *tc = tcase_create("daemon-tree");

	tcase_add_checked_fixture(tc, setup, finish);
	tcase_add_test(tc, nodes_are_found_by_path);
	tcase_add_test(tc, a_walk_meets_each_node_once_parents_first);
	tcase_add_test(tc, counts_are_those_of_the_services_below);
	tcase_add_test(tc, every_edge_is_known_at_both_ends);
	tcase_add_test(tc, a_start_waits_for_what_is_required);
	tcase_add_test(tc, a_failure_is_enough_for_after_only);
	tcase_add_test(tc, what_waits_for_a_failure_is_not_under_way);
	tcase_add_test(tc, starting_a_service_starts_what_it_requires);
	tcase_add_test(tc, nothing_is_started_below_a_stop);
	tcase_add_test(tc, a_stop_is_latched_at_once_and_signals_in_order);
	tcase_add_test(tc, who_requires_what_stops_stops_too);
	tcase_add_test(tc, who_only_comes_after_runs_on);
	tcase_add_test(tc, force_kills_what_is_gated_and_is_remembered);
	tcase_add_test(tc, a_force_without_a_stop_does_nothing);
	tcase_add_test(tc, a_lease_holds_the_stop_until_it_ends_or_is_revoked);
	tcase_add_test(tc, the_line_says_how_it_is);
	tcase_add_test(tc, a_line_with_many_names_is_cut);
	suite_add_tcase(s, tc);
	return s;
}
