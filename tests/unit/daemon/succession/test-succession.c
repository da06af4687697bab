#include "tests/unit/fixtures/daemon/tree-world.h"

/* The steps of a hand-over, what it leaves as it was, and all that can end it. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/reload/use.h"
#include "daemon/service/health.h"
#include "daemon/streams/activation.h"
#include "daemon/succession/succession.h"
#include "daemon/tree/goals.h"
#include "daemon/tree/start-order.h"

static const char section[] =
	"[db]\ncommand = x\n"
	"[g/web]\ncommand = %s\nlisten = unix:/tmp/test-succession.%d\nready = notify\n"
	"handover = yes\nrequires = db\n%s"
	"[front]\ncommand = x\nrequires = g\n";

static char *text_of(const char *command, const char *more)
{
	static char text[1024];

	(void)snprintf(text, sizeof(text), section, command, (int)getpid(), more);
	return text;
}

static void begin_web(const char *more)
{
	begin(text_of("x", more));
	ready("g/web");
	expect("db up, g/web up, front up");
	(void)launched();
}

static bool exists(const char *path)
{
	return tree_find(&tree, path);
}

/* A requirement on the group is satisfied, and no dependent has been touched. */
static void check_dependent(void)
{
	ck_assert(start_order_is_satisfied(find("g")));
	ck_assert_int_eq(service("front")->state, STATE_UP);
	ck_assert_uint_eq(find("front")->generation, 1);
	check_counts();
}

START_TEST(earlier_run_is_stopped_when_the_next_one_is_ready)
{
	pid_t pid;

	begin_web("");
	pid = service("g/web")->main.pid;
	ck_assert_int_eq(restart("g/web"), 0);
	expect("g/web up, g/web~2 starting");
	ck_assert_int_eq(find("g/web")->goal, GOAL_HANDOVER);
	ck_assert(!is_asked(service("g/web")));
	check_dependent();
	ready("g/web~2");
	expect("g/web up, g/web~1 stopping");
	ck_assert(!exists("g/web~2") || find("g/web~2") == find("g/web"));
	ck_assert_uint_eq(find("g/web")->generation, 2);
	ck_assert_int_eq(find("g/web")->goal, GOAL_UP);
	ck_assert_int_eq(service("g/web~1")->main.pid, pid);
	ck_assert(is_asked(service("g/web~1")) && !is_asked(service("g/web")));
	check_dependent();
	ends("g/web~1", 0);
	ck_assert(!exists("g/web~1"));
	check_dependent();
	ck_assert_str_eq(launched(), "g/web ");
}
END_TEST

START_TEST(run_goes_on_if_the_next_one_fails)
{
	struct node *node;
	char why[SUCCESSION_WHY_MAX];

	begin_web(_i ? "start-timeout = 2s\n" : "");
	node = find("g/web");
	for (int n = 0; n < 3; n++) {
		ck_assert_int_eq(restart("g/web"), 0);
		expect("g/web up, g/web~2 starting");
		if (_i) {
			pass(2 * SEC);
			expect("g/web~2 cleaning");
		}
		end_process(service("g/web~2"), 3);
		while (exists("g/web~2") && find("g/web~2")->goal != GOAL_GONE)
			turn();
		ck_assert_ptr_nonnull(
			strstr(succession_failure(node, why), "generation 1 goes on"));
		ck_assert_ptr_nonnull(strstr(why, _i ? "start-timeout" : "status 3"));
		turns();
		ck_assert(!exists("g/web~2"));
		ck_assert_ptr_eq(find("g/web"), node);
		ck_assert_int_eq(node->goal, GOAL_UP);
		ck_assert_uint_eq(node->generation, 1);
		expect("g/web up");
		check_dependent();
	}
	ck_assert_uint_eq(service("g/web")->restarts, 0);
}
END_TEST

START_TEST(guards_stay_with_the_run_that_they_were_taken_on)
{
	struct lease *lease;

	begin_web("");
	lease = hold("g/web");
	ck_assert_int_eq(restart("g/web"), 0);
	ready("g/web~2");
	ends("g/web~1", 0);
	ck_assert_ptr_eq(lease->node, find("g/web~1"));
	ck_assert(!find("g/web~1")->complete);
	pass(1 * SEC);
	release(lease);
	ck_assert(!exists("g/web~1"));
	expect("g/web up");
}
END_TEST

static struct node *use(const char *path)
{
	struct node *node = NULL;
	struct lease *lease;

	ck_assert_int_eq(use_find(&tree, find(path), &node), 0);
	lease = hold(node_name(node));
	ck_assert_ptr_eq(lease->node, node);
	return node;
}

static void check_used(const struct node *user, const char *path)
{
	ck_assert_ptr_eq(node_edges(user, EDGE_REQUIRES)[0], find(path));
	ck_assert(node_has_edge(find(path), LIST_DEPENDENTS, user));
}

START_TEST(work_goes_on_to_use_its_run)
{
	struct node *first, *second;

	begin_web("");
	first = use("g/web");
	ck_assert_int_eq(restart("g/web"), 0);
	second = use("g/web~2");
	ck_assert_ptr_ne(first, second);
	ready("g/web~2");
	/* The predecessor has its signal when the work is over. */
	expect("g/web up, g/web~1 waiting");
	ck_assert(node_is_stopped(first) && !node_is_stopped(second));
	check_used(first, "g/web~1");
	check_used(second, "g/web");
	ck_assert_ptr_eq(use("g/web"), second);
	reload(text_of("x", ""));
	check_used(first, "g/web~1");
	check_used(second, "g/web");
	release(list_entry(first->leases.next, struct lease, of_node));
	expect("g/web up, g/web~1 stopping");
	ends("g/web~1", 0);
	ck_assert(!exists("g/web~1"));
	check_used(second, "g/web");
	check_dependent();
	for (int i = 0; i < 2; i++)
		release(list_entry(second->leases.next, struct lease, of_node));
}
END_TEST

START_TEST(restart_waits_while_there_are_too_many_predecessors)
{
	begin_web("handover-max = 2\n");
	for (unsigned n = 2; n <= 3; n++) {
		char path[20];

		(void)snprintf(path, sizeof(path), "g/web~%u", n);
		ck_assert_int_eq(restart("g/web"), 0);
		ready(path);
	}
	expect("g/web up, g/web~1 stopping, g/web~2 stopping");
	ck_assert_int_eq(restart("g/web"), 0);
	ck_assert(!exists("g/web~4"));
	ck_assert_int_eq(find("g/web")->goal, GOAL_HANDOVER);
	ends("g/web~1", 0);
	expect("g/web up, g/web~2 stopping, g/web~4 starting");
	check_dependent();
}
END_TEST

static const char *const tops[] = { "g/web", "g", "" };

START_TEST(stop_ends_all_runs_at_once)
{
	begin_web("");
	ck_assert_int_eq(restart("g/web"), 0);
	ready("g/web~2");
	ck_assert_int_eq(restart("g/web"), 0);
	expect("g/web up, g/web~1 stopping, g/web~3 starting");
	stop(tops[_i]);
	end_asked();
	end_asked();
	end_asked();
	expect("g/web down");
	ck_assert(find(tops[_i])->complete);
	/* In the end of all, nodes are freed with the tree. */
	if (*tops[_i])
		ck_assert(!exists("g/web~1") && !exists("g/web~3"));
	ck_assert_int_ne(find("g/web")->goal, GOAL_HANDOVER);
}
END_TEST

START_TEST(restart_of_the_group_or_of_a_requirement_stops_the_service)
{
	begin_web("");
	ck_assert_int_eq(restart(_i ? "g" : "db"), 0);
	ck_assert(node_is_stopped(find("g/web")));
	ck_assert(!exists("g/web~2"));
	end_asked();
	end_asked();
	end_asked();
	expect("db up, g/web starting");
}
END_TEST

START_TEST(failure_of_the_present_run_does_not_end_a_hand_over)
{
	begin_web("");
	ck_assert_int_eq(restart("g/web"), 0);
	ends("g/web", 1);
	expect("g/web backoff, g/web~2 starting");
	ready("g/web~2");
	expect("g/web up");
	ck_assert_uint_eq(find("g/web")->generation, 2);
	ck_assert(!exists("g/web~1"));
}
END_TEST

START_TEST(changed_key_begins_a_hand_over_and_a_further_one_begins_it_again)
{
	begin_web("");
	reload(text_of("y", ""));
	expect("g/web up, g/web~2 starting");
	check_dependent();
	reload(text_of("z", ""));
	expect("g/web up, g/web~2 stopping, g/web~3 starting");
	end_asked();
	ready("g/web~3");
	ck_assert_str_eq(service("g/web")->setup.launch.config->command, "z");
	ck_assert_str_eq(service("g/web~1")->setup.launch.config->command, "x");
	ck_assert(!service_is_outdated(service("g/web")));
	check_dependent();
	/* The edges are those of the new configuration. */
	ck_assert_ptr_eq(node_edges(find("front"), EDGE_REQUIRES)[0], find("g"));
	ck_assert_ptr_eq(node_edges(find("g/web"), EDGE_REQUIRES)[0], find("db"));
}
END_TEST

START_TEST(reload_without_a_change_does_not_touch_a_hand_over)
{
	begin_web("");
	ck_assert_int_eq(restart("g/web"), 0);
	reload(text_of("x", ""));
	expect("g/web up, g/web~2 starting");
	ready("g/web~2");
	expect("g/web up, g/web~1 stopping");
	ck_assert_ptr_eq(find("g/web")->config, config_find(tree.config, "g/web"));
}
END_TEST

START_TEST(service_without_the_key_restarts_as_ever)
{
	begin_web("");
	ck_assert_int_eq(restart("g/web"), 0);
	reload("[db]\ncommand = x\n[g/web]\ncommand = x\n[front]\ncommand = x\nrequires = g\n");
	end_asked();
	end_asked();
	expect("g/web up, front up");
	ck_assert_uint_eq(service("g/web")->group.generation, 0);
	ck_assert(!exists("g/web~1"));
	/* The next run has it. */
	reload(text_of("x", ""));
	end_asked();
	end_asked();
	ready("g/web");
	ck_assert_int_eq(restart("g/web"), 0);
	ck_assert_int_eq(find("g/web")->goal, GOAL_HANDOVER);
}
END_TEST

START_TEST(service_to_which_a_predecessor_is_bound_starts_again_before_its_end)
{
	begin_web("binds-to = db\n");
	ck_assert_int_eq(restart("g/web"), 0);
	ready("g/web~2");
	ends("db", 1);
	ends("front", 0);
	ends("g/web", 0);
	pass(1 * SEC);
	expect("db up, g/web starting, g/web~1 stopping");
}
END_TEST

START_TEST(order_of_a_stop_holds_for_predecessors)
{
	begin_web("");
	ck_assert_int_eq(restart("g/web"), 0);
	ready("g/web~2");
	stop("db");
	expect("db waiting, g/web~1 stopping");
	ends("front", 0);
	expect("db waiting, g/web stopping");
	ends("g/web", 0);
	expect("db waiting");
	ends("g/web~1", 0);
	expect("db stopping");
}
END_TEST

START_TEST(stored_sockets_that_listen_are_for_both_runs)
{
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), other = socket(AF_UNIX, SOCK_STREAM, 0);
	struct fdstore *store;

	begin_web("fd-store-max = 5\n");
	ck_assert_int_eq(
		bind(listener, &(struct sockaddr){ .sa_family = AF_UNIX }, sizeof(sa_family_t)), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	ck_assert_int_eq(activation_store(service("g/web")->setup.launch.activation, listener, "l", true),
			 0);
	ck_assert_int_eq(activation_store(service("g/web")->setup.launch.activation, other, "o", false),
			 0);
	ck_assert_int_eq(restart("g/web"), 0);
	store = activation_fdstore(service("g/web~2")->setup.launch.activation);
	ck_assert_uint_eq(store->n, 1);
	ck_assert_str_eq(list_entry(store->entries.next, struct fdstore_entry, in_store)->name,
			 "l");
	ck_assert_uint_eq(activation_fdstore(service("g/web")->setup.launch.activation)->n, 2);
}
END_TEST

START_TEST(run_is_found_by_its_claim_whatever_its_name)
{
	const struct node *first, *second;
	char claim[CONFIG_NAME_MAX + 1];

	begin_web("");
	first = find("g/web");
	ck_assert_str_eq(control_group_claim(&service("g/web")->group, claim), "g/web~1");
	ck_assert_ptr_eq(tree_find(&tree, "g/web~1"), first);
	ck_assert_int_eq(restart("g/web"), 0);
	second = find("g/web~2");
	ready("g/web~2");
	ck_assert_ptr_eq(tree_find(&tree, "g/web~1"), first);
	ck_assert_ptr_eq(tree_find(&tree, "g/web~2"), second);
	ck_assert_ptr_eq(tree_find(&tree, "g/web"), second);
	ck_assert_ptr_null(tree_find(&tree, "g/web~3"));
	ck_assert_ptr_null(tree_find(&tree, "db~1"));
	ck_assert_ptr_null(tree_find(&tree, "~"));
}
END_TEST

START_TEST(section_that_comes_back_has_a_generation_of_its_own)
{
	char claim[CONFIG_NAME_MAX + 1];

	begin_web("");
	ck_assert_int_eq(restart("g/web"), 0);
	ready("g/web~2");
	reload("[db]\ncommand = x\n[g/other]\ncommand = x\n[front]\ncommand = x\nrequires = g\n");
	ends("g/web", 0);
	expect("g/web~1 stopping, front up");
	ck_assert(!exists("g/web"));
	reload(text_of("x", ""));
	ck_assert_uint_eq(find("g/web")->generation, 2);
	ck_assert_str_eq(control_group_claim(&service("g/web")->group, claim), "g/web~2");
	ready("g/web");
	ck_assert_int_eq(restart("g/web"), 0);
	ready("g/web~3");
	expect("g/web up, g/web~1 stopping, g/web~2 stopping");
	ends("g/web~1", 0);
	expect("g/web up, g/web~2 stopping");
	ends("g/web~2", 0);
	ck_assert(!exists("g/web~2"));
	check_counts();
}
END_TEST

START_TEST(claims_make_no_more_runs_than_a_service_can_have)
{
	static const char *const none[] = { "g/web~0", "g/web~07", "g/web~7x", "g/web~-7",
					    "g/web~4294967295" };
	char claim[20];
	size_t n;

	begin_web("handover-max = 2\n");
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		ck_assert_ptr_null(succession_find_claimed(&tree, none[i]));
	n = tree.by_path.n;
	for (unsigned i = 7; i < 20; i++) {
		(void)snprintf(claim, sizeof(claim), "g/web~%u", i);
		ck_assert_int_eq(succession_find_claimed(&tree, claim) != NULL, i < 10);
	}
	ck_assert_uint_eq(tree.by_path.n, n + 3);
}
END_TEST

START_TEST(essential_service_does_not_end_the_tree_by_a_hand_over)
{
	begin_web("essential = yes\nrestart = never\n");
	ck_assert_int_eq(restart("g/web"), 0);
	ends("g/web~2", 1);
	ck_assert(!node_is_stopped(tree.root));
	ck_assert_int_eq(restart("g/web"), 0);
	ready("g/web~2");
	ends("g/web~1", 1);
	ck_assert(!node_is_stopped(tree.root));
	ends("g/web", 1);
	ck_assert(node_is_stopped(tree.root));
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("succession");
	TCase *tc = tree_case("succession");

	tcase_add_test(tc, earlier_run_is_stopped_when_the_next_one_is_ready);
	tcase_add_loop_test(tc, run_goes_on_if_the_next_one_fails, 0, 2);
	tcase_add_test(tc, guards_stay_with_the_run_that_they_were_taken_on);
	tcase_add_test(tc, work_goes_on_to_use_its_run);
	tcase_add_test(tc, restart_waits_while_there_are_too_many_predecessors);
	tcase_add_loop_test(tc, stop_ends_all_runs_at_once, 0, 3);
	tcase_add_loop_test(tc, restart_of_the_group_or_of_a_requirement_stops_the_service, 0, 2);
	tcase_add_test(tc, failure_of_the_present_run_does_not_end_a_hand_over);
	tcase_add_test(tc, changed_key_begins_a_hand_over_and_a_further_one_begins_it_again);
	tcase_add_test(tc, reload_without_a_change_does_not_touch_a_hand_over);
	tcase_add_test(tc, service_without_the_key_restarts_as_ever);
	tcase_add_test(tc, service_to_which_a_predecessor_is_bound_starts_again_before_its_end);
	tcase_add_test(tc, order_of_a_stop_holds_for_predecessors);
	tcase_add_test(tc, stored_sockets_that_listen_are_for_both_runs);
	tcase_add_test(tc, run_is_found_by_its_claim_whatever_its_name);
	tcase_add_test(tc, section_that_comes_back_has_a_generation_of_its_own);
	tcase_add_test(tc, claims_make_no_more_runs_than_a_service_can_have);
	tcase_add_test(tc, essential_service_does_not_end_the_tree_by_a_hand_over);
	suite_add_tcase(s, tc);
	return s;
}
