#include "tests/unit/fixtures/daemon/tree-world.h"

/* Services that come back after a stop, and those that do not. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/streams/activation.h"
#include "daemon/tree/goals.h"
#include "daemon/tree/start-order.h"

static const char three[] = "[db]\ncommand = x\n[web]\ncommand = x\nrequires = db\n"
			    "[log]\ncommand = x\nafter = web\n";

START_TEST(restart_takes_dependents_along_in_order)
{
	begin(three);
	ck_assert_int_eq(restart("db"), 0);
	expect("db waiting, web stopping, log up");
	(void)launched();
	ends("web", 0);
	expect("db stopping, web down");
	ck_assert_uint_eq(find("web")->generation, 2);
	ck_assert_ptr_eq(start_order_blocker(service("web")), find("db"));
	ends("db", 0);
	expect("db up, web up, log up");
	ck_assert_str_eq(launched(), "db web ");
	ck_assert_uint_eq(find("db")->generation, 2);
}
END_TEST

START_TEST(stop_of_another_service_does_not_end_a_restart)
{
	begin(three);
	ck_assert_int_eq(restart("db"), 0);
	ends("web", 0);
	stop("log");
	ends("log", 0);
	ends("db", 0);
	expect("db up, web up, log down");
}
END_TEST

START_TEST(stop_ends_a_restart)
{
	begin(three);
	ck_assert_int_eq(restart("db"), 0);
	if (_i > 0)
		ends("web", 0);
	stop("db");
	end_asked();
	expect("db down, web down, log up");
	ck_assert(find("db")->complete && find("web")->complete);
}
END_TEST

static const char *const above[] = { "g", "g/h", "db" };

START_TEST(stop_above_ends_the_restart_of_a_member)
{
	begin("[db]\ncommand = x\n[g]\nrequires = db\n[g/h/a]\ncommand = x\n");
	ck_assert_int_eq(restart("g/h/a"), 0);
	stop(above[_i]);
	end_asked();
	expect("g/h/a down");
	ck_assert(find("g/h/a")->complete && find(above[_i])->complete);
}
END_TEST

/* --- instances of a required template --- */

static const char instances[] = "[a@]\ninstances = 3\ncommand = %s\n"
				"[by-template]\ncommand = x\nrequires = a@\n"
				"[by-names]\ncommand = x\nrequires = a@1 a@2 a@3\n";

static void begin_instances(void)
{
	char text[256];

	(void)snprintf(text, sizeof(text), instances, "x");
	begin(text);
	(void)launched();
}

START_TEST(restart_of_an_instance_leaves_nodes_that_require_the_template)
{
	begin_instances();
	ck_assert_int_eq(restart("a@2"), 0);
	expect("a@2 waiting, by-template up, by-names stopping");
	end_asked();
	end_asked();
	expect("a@2 up, by-template up, by-names up");
	ck_assert_uint_eq(find("by-template")->generation, 1);
}
END_TEST

START_TEST(stop_of_the_last_instance_stops_nodes_that_require_the_template)
{
	begin_instances();
	stop("a@1");
	stop("a@3");
	end_asked();
	end_asked();
	expect("a@1 down, a@3 down, by-template up, by-names down");
	stop("a@2");
	expect("a@2 waiting, by-template stopping");
	end_asked();
	end_asked();
	expect("a@2 down, by-template down");
}
END_TEST

START_TEST(restart_of_all_instances_restarts_nodes_that_require_the_template)
{
	char text[256];

	begin_instances();
	(void)snprintf(text, sizeof(text), instances, "other");
	reload(text);
	expect("a@1 waiting, a@2 waiting, a@3 waiting, by-template stopping, by-names stopping");
	end_asked();
	end_asked();
	expect("a@1 up, a@2 up, a@3 up, by-template up, by-names up");
	ck_assert_uint_eq(find("by-template")->generation, 2);
	ck_assert_uint_eq(find("by-names")->generation, 2);
}
END_TEST

/* Nodes that a batch restarts along with others: its report, a word for each. */
static void note_dependent(struct node *node, void *arg)
{
	(void)strcat(strcat(arg, node_name(node)), " ");
}

/* With @keep other instances; a@2 restarts at the same time if @both. */
static const char *foresee(uint64_t keep, bool both)
{
	static char text[256];
	struct goals goals;

	*text = '\0';
	goals_begin(&goals, &tree, CAUSE_OPERATOR);
	goals.dry_run = true;
	goals.keep = keep;
	goals.on_dependent = note_dependent;
	goals.arg = text;
	goals_lower(&goals, find("a@1"), REQUEST_RESTART, "test");
	if (both)
		goals_lower(&goals, find("a@2"), REQUEST_RESTART, "test");
	goals_commit(&goals);
	turns();
	return text;
}

START_TEST(dry_run_names_the_dependents_and_changes_nothing)
{
	begin_instances();
	ck_assert_str_eq(foresee(2, false), "by-names ");
	ck_assert_str_eq(foresee(UINT64_MAX, false), "by-names ");
	ck_assert_str_eq(foresee(1, true), "by-names ");
	ck_assert_str_eq(foresee(2, true), "by-template by-names ");
	expect("a@1 up, a@2 up, a@3 up, by-template up, by-names up");
	ck_assert_str_eq(launched(), "");
	ends("a@3", 1);
	ck_assert_str_eq(foresee(UINT64_MAX, false), "by-template by-names ");
	ck_assert_str_eq(foresee(1, false), "by-names ");
}
END_TEST

/* --- essential services --- */

START_TEST(restart_of_an_essential_service_does_not_end_the_tree)
{
	begin("[db]\ncommand = x\nready = notify\n"
	      "[main]\ncommand = x\nessential = yes\nafter = db\n");
	stop("main"); /* it has not run */
	ck_assert_int_eq(start("main"), 0);
	ready("db");
	if (_i > 0) {
		ends("main", 1);
		expect("main backoff");
	}
	ck_assert_int_eq(restart("main"), 0);
	end_asked();
	expect("main up");
	ck_assert_ptr_null(tree.ends.cause);

	stop("main");
	ends("main", 0);
	ck_assert_ptr_eq(tree.ends.cause, service("main"));
	ck_assert(node_is_stopped(tree.root));
}
END_TEST

/* --- objects that are kept for the next run --- */

static size_t count_stored(const char *path)
{
	return activation_fdstore(service(path)->setup.launch.activation)->n;
}

/* "a" is down: begun anew and waiting for "b", or held up by a guard. */
START_TEST(stored_descriptors_go_when_a_restart_is_ended)
{
	struct lease *lease;

	begin("[a]\ncommand = x\nnotify = yes\nrequires = b\n[b]\ncommand = x\n");
	ck_assert_int_eq(
		activation_store(service("a")->setup.launch.activation, dup(2), "x", false), 0);
	lease = hold("a");
	ck_assert_int_eq(restart("b"), 0);
	if (_i > 0)
		release(lease);
	ends("a", 0);
	expect("a down");
	ck_assert_uint_eq(find("a")->generation, 1 + (unsigned)_i);
	ck_assert_uint_eq(count_stored("a"), 1);
	stop("a");
	ck_assert_uint_eq(count_stored("a"), 0);
	if (_i == 0)
		release(lease);
}
END_TEST

/* Otherwise a client would wait for a service that does not come, for as long as the stop takes. */
START_TEST(sockets_of_services_that_are_down_close_with_the_stop_of_the_root)
{
	char path[] = "/tmp/test-restart.XXXXXX", text[128];

	ck_assert_ptr_nonnull(mkdtemp(path));
	(void)snprintf(text, sizeof(text),
		       "[a]\ncommand = x\nlisten = unix:%s/s\n[b]\ncommand = x\n", path);
	begin(text);
	stop("a");
	ends("a", 0);
	ck_assert(!list_is_empty(&ctx.listeners));
	stop("root");
	expect("a down, b stopping");
	ck_assert(list_is_empty(&ctx.listeners));
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("restart");
	TCase *tc = tree_case("restart");

	tcase_add_test(tc, restart_takes_dependents_along_in_order);
	tcase_add_test(tc, stop_of_another_service_does_not_end_a_restart);
	tcase_add_loop_test(tc, stop_ends_a_restart, 0, 2);
	tcase_add_loop_test(tc, stop_above_ends_the_restart_of_a_member, 0, ARRAY_SIZE(above));
	tcase_add_test(tc, restart_of_an_instance_leaves_nodes_that_require_the_template);
	tcase_add_test(tc, stop_of_the_last_instance_stops_nodes_that_require_the_template);
	tcase_add_test(tc, restart_of_all_instances_restarts_nodes_that_require_the_template);
	tcase_add_test(tc, dry_run_names_the_dependents_and_changes_nothing);
	tcase_add_loop_test(tc, restart_of_an_essential_service_does_not_end_the_tree, 0, 2);
	tcase_add_loop_test(tc, stored_descriptors_go_when_a_restart_is_ended, 0, 2);
	tcase_add_test(tc, sockets_of_services_that_are_down_close_with_the_stop_of_the_root);
	suite_add_tcase(s, tc);
	return s;
}
