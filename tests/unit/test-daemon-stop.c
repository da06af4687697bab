#include "main.h"
#include "tree-world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/parse.h"
#include "daemon/lease.h"
#include "daemon/order.h"
#include "daemon/reload.h"
#include "daemon/service-exit.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"
#include "daemon/tree.h"

/*
 * What comes between a stop and the next start, on a tree without processes: what a service would do
 * is said to it as its processes would.  Nothing here calls order_pump(), so no start is carried out.
 */

struct stated {
	const char *path, *requires, *after, *wants, *term_after;
	bool essential;
};

/* "web" needs "db", and "log" comes after both. */
static const struct stated three[] = {
	{ .path = "db" },
	{ .path = "web", .requires = "db" },
	{ .path = "log", .after = "web" },
	{ .path = NULL },
};

static struct node_config **one(const struct config *config, const char *path)
{
	struct node_config **list;

	if (!path)
		return NULL;
	list = calloc(2, sizeof(*list));
	list[0] = config_find(config, path);
	ck_assert_ptr_nonnull(list[0]);
	return list;
}

static struct config *make_config(const struct stated *sections)
{
	struct config *config;

	ck_assert_int_eq(config_new(&config), 0);
	for (; sections->path; sections++) {
		struct node_config *node;
		struct stated_edges *edges;
		struct place place = { .file = NULL };

		ck_assert_int_eq(config_add_node(config, sections->path, place, &node), 0);
		ck_assert_int_eq(parse_words("true", &node->argv), 1);
		node->command = strdup("true");
		edges = node_config_own_edges(node);
		edges->nodes[EDGE_REQUIRES] = one(config, sections->requires);
		edges->nodes[EDGE_AFTER] = one(config, sections->after);
		edges->nodes[EDGE_WANTS] = one(config, sections->wants);
		edges->nodes[EDGE_TERM_AFTER] = one(config, sections->term_after);
		node->essential = sections->essential;
	}
	return config;
}

static void setup_tree(const struct stated *sections)
{
	begin_with(make_config(sections));
}

static void setup(void)
{
	setup_tree(three);
}

static void check_counts(void)
{
	for (struct node *top = tree.root; top; top = node_next(top, tree.root)) {
		unsigned services = 0, ready = 0, settled = 0;

		for (struct node *n = top; n; n = node_next(n, top)) {
			services += n->service != NULL;
			ready += n->service && service_is_ready(n->service);
			settled += n->service && service_is_settled(n->service);
		}
		ck_assert_uint_eq(top->services, services);
		ck_assert_uint_eq(top->ready, ready);
		ck_assert_uint_eq(top->settled, settled);
	}
}

static void teardown(void)
{
	check_counts();
	finish();
}

static void reload(const struct stated *sections)
{
	struct config *config = make_config(sections);

	ck_assert_int_eq(reload_apply(&tree, config), 0);
	config_unref(config);
}

/* One turn of daemon.c, as far as a stop goes. */
static void turn(void)
{
	order_release(&ctx);
	(void)shutdown_follow(&tree);
	check_counts();
}

/* It runs: wanted, with a guard, and ready, as act_spawn() and READY have it. */
static void run(const char *path)
{
	struct service *s = service(path);
	bool was_settled;

	order_want(s);
	list_remove(&s->in_waiting);
	was_settled = service_is_settled(s);
	s->main.guard = swansong_guard(s->node->handle);
	s->main.generation = s->node->generation;
	s->state = STATE_STARTING;
	node_count(s->node, 0, 0, service_is_settled(s) - was_settled);
	service_handle(s, EVENT_READY);
}

static void run_all(void)
{
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		if (n->service)
			run(n->config->path);
}

/* Its last process is gone. */
static void end(const char *path)
{
	struct service *s = service(path);

	service_handle(s, EVENT_DONE);
	process_remove(&s->main);
	turn();
}

/* --- what cannot start --- */

/* "web" waits in vain for "db": that is to be known, and no reason for "log" to wait as well. */
START_TEST(who_only_comes_after_does_not_wait_for_who_waits_in_vain)
{
	run("db");
	order_want(service("web"));
	service_handle(service("db"), EVENT_FAIL);
	process_remove(&service("db")->main);
	ck_assert_ptr_eq(order_start_blocker(service("log")), find("web"));
	order_pump(&ctx);
	check_counts();
	ck_assert_ptr_eq(order_start_blocker(service("web")), find("db"));
	ck_assert_ptr_eq(order_failed_requirement(service("web")), find("db"));
	ck_assert_ptr_null(order_start_blocker(service("log")));

	run("db");
	check_counts();
	ck_assert_ptr_null(order_start_blocker(service("web")));
	ck_assert_ptr_null(order_failed_requirement(service("web")));
	shutdown_stop(&tree, tree.root, "test");
	end("db");
}
END_TEST

/* A failure that it does not require is none of its. */
START_TEST(who_comes_after_a_failure_is_not_hopeless)
{
	static const struct stated group[] = {
		{ .path = "jobs/bad" },
		{ .path = "jobs/slow" },
		{ .path = "web", .after = "jobs" },
		{ .path = NULL },
	};

	teardown();
	setup_tree(group);
	run("jobs/bad");
	service_handle(service("jobs/bad"), EVENT_FAIL);
	process_remove(&service("jobs/bad")->main);
	order_want(service("jobs/slow"));
	ck_assert_ptr_eq(order_start_blocker(service("web")), find("jobs"));
	ck_assert_ptr_null(order_failed_requirement(service("web")));
}
END_TEST

/* --- the weaker edges --- */

static const struct stated weak[] = {
	{ .path = "cache" },
	{ .path = "app", .wants = "cache" },
	{ .path = "drain", .term_after = "app" },
	{ .path = NULL },
};

START_TEST(what_is_wanted_is_brought_along_but_may_fail)
{
	teardown();
	setup_tree(weak);
	ck_assert_int_eq(starting_begin(find("app")), 0);
	ck_assert(service("cache")->wanted && service("app")->wanted);
	ck_assert(!service("drain")->wanted);
	ck_assert_ptr_eq(order_start_blocker(service("app")), find("cache"));
	run("cache");
	service_handle(service("cache"), EVENT_FAIL);
	process_remove(&service("cache")->main);
	ck_assert_ptr_null(order_start_blocker(service("app")));
	run("app");
	run("cache");
	shutdown_stop(&tree, find("cache"), "test");
	ck_assert(!node_is_stopped(find("app")));
	end("cache");
	shutdown_stop(&tree, tree.root, "test");
	end("app");
}
END_TEST

START_TEST(what_is_term_after_waits_with_its_signal_only)
{
	teardown();
	setup_tree(weak);
	ck_assert_ptr_null(order_start_blocker(service("drain")));
	run_all();
	shutdown_stop(&tree, tree.root, "test");
	ck_assert_int_eq(service("drain")->state, STATE_GATED);
	ck_assert_ptr_eq(order_stop_blocker(service("drain")), find("app"));
	ck_assert_int_eq(service("cache")->state, STATE_GATED);
	end("app");
	ck_assert_int_eq(service("drain")->state, STATE_STOPPING);
	ck_assert_int_eq(service("cache")->state, STATE_STOPPING);
	end("cache");
	end("drain");
}
END_TEST

START_TEST(what_is_term_after_something_else_loses_that_with_it)
{
	static const struct stated rest[] = {
		{ .path = "cache" },
		{ .path = "drain" },
		{ .path = NULL },
	};

	teardown();
	setup_tree(weak);
	run_all();
	reload(rest);
	turn();
	end("app");
	ck_assert_ptr_null(tree_find(&tree, "app"));
	shutdown_stop(&tree, tree.root, "test");
	ck_assert_int_eq(service("drain")->state, STATE_STOPPING);
	end("cache");
	end("drain");
}
END_TEST

/* --- sections that are gone --- */

static const struct stated no_web[] = {
	{ .path = "db" },
	{ .path = "log" },
	{ .path = NULL },
};

START_TEST(a_retired_node_goes_with_its_last_process)
{
	run_all();
	reload(no_web);
	turn();
	ck_assert(find("web")->retired);
	end("web");
	ck_assert_ptr_null(tree_find(&tree, "web"));
	ck_assert_ptr_null(node_edges(find("db"), LIST_DEPENDENTS)[0]);
	end("db");
	end("log");
}
END_TEST

START_TEST(a_retired_node_that_was_complete_goes_at_once)
{
	shutdown_stop(&tree, find("web"), "test");
	turn();
	ck_assert(find("web")->complete);
	reload(no_web);
	turn();
	ck_assert_ptr_null(tree_find(&tree, "web"));
	reload(three);
	ck_assert_uint_eq(find("web")->generation, 1);
}
END_TEST

/* The present generation is Complete at once, but the process of the one before works on. */
START_TEST(a_retired_node_stays_for_an_earlier_generation)
{
	run_all();
	shutdown_stop(&tree, find("web"), "test");
	ck_assert_int_eq(starting_begin(find("web")), 0);
	reload(no_web);
	turn();
	ck_assert(find("web")->complete);
	ck_assert_ptr_nonnull(service("web")->main.guard.node);
	end("web");
	ck_assert_ptr_null(tree_find(&tree, "web"));
	end("db");
	end("log");
}
END_TEST

START_TEST(a_retired_node_stays_for_a_lease)
{
	const struct unix_peer peer = { .pid = 0 };
	const struct lease_wish wish = { .peer = &peer, .why = "", .ttl_usec = USEC_INFINITY };
	struct lease *lease;

	ck_assert_int_eq(lease_new(&lease, find("web"), &wish), 0);
	shutdown_stop(&tree, find("web"), "test");
	ck_assert_int_eq(starting_begin(find("web")), 0);
	reload(no_web);
	turn();
	ck_assert(find("web")->complete);
	lease_free(lease);
	turn();
	ck_assert_ptr_null(tree_find(&tree, "web"));
}
END_TEST

START_TEST(what_is_retired_is_not_started_again)
{
	run_all();
	reload(no_web);
	ck_assert_int_eq(starting_begin(find("web")), -ESHUTDOWN);
	ck_assert_int_eq(starting_begin(tree.root), 0);
	ck_assert(node_is_stopped(find("web")));
	ck_assert(!service("web")->wanted);
	for (const char *const *path = (const char *const[]){ "web", "db", "log", NULL }; *path;
	     path++)
		end(*path);
}
END_TEST

/* The new file says that it can do without, so it does. */
START_TEST(who_does_not_require_it_any_more_runs_on)
{
	static const struct stated no_db[] = {
		{ .path = "web" },
		{ .path = "log", .after = "web" },
		{ .path = NULL },
	};

	run_all();
	reload(no_db);
	turn();
	ck_assert(node_is_stopped(find("db")));
	ck_assert(!node_is_stopped(find("web")));
	ck_assert_int_eq(service("db")->state, STATE_STOPPING);
	end("db");
	ck_assert_ptr_null(tree_find(&tree, "db"));
	ck_assert_ptr_null(order_start_blocker(service("web")));
	end("web");
	end("log");
}
END_TEST

/* --- the next generation --- */

/* "web" has its work to end, and needs "db" for that, whatever is to run after. */
START_TEST(a_start_meanwhile_opens_no_gate)
{
	run_all();
	shutdown_stop(&tree, find("db"), "test");
	ck_assert_int_eq(service("db")->state, STATE_GATED);
	ck_assert_int_eq(starting_begin(find("web")), 0);
	ck_assert_uint_eq(find("web")->generation, 2);
	turn();
	ck_assert_int_eq(service("db")->state, STATE_GATED);
	ck_assert_ptr_eq(order_stop_blocker(service("db")), find("web"));
	shutdown_stop(&tree, find("web"), "test");
	ck_assert_int_eq(starting_begin(find("web")), 0);
	turn();
	ck_assert_int_eq(service("db")->state, STATE_GATED);
	end("web");
	turn();
	ck_assert_int_eq(service("db")->state, STATE_STOPPING);
	end("db");
	end("log");
}
END_TEST

/* --- force --- */

START_TEST(a_force_leaves_nothing_of_the_budget)
{
	uint64_t before = clock_now_usec();

	run_all();
	shutdown_force(tree.root);
	ck_assert_uint_eq(tree.root->deadline_usec, USEC_INFINITY);
	shutdown_stop(&tree, tree.root, "test");
	ck_assert_uint_gt(tree.root->deadline_usec, before + USEC_PER_SEC);
	shutdown_force(tree.root);
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		ck_assert_uint_le(n->deadline_usec, clock_now_usec());
	for (const char *const *path = (const char *const[]){ "web", "db", "log", NULL }; *path;
	     path++)
		end(*path);
}
END_TEST

/* --- restarts --- */

START_TEST(a_restart_takes_along_what_requires_it)
{
	run_all();
	shutdown_restart(&tree, find("db"), "test");
	ck_assert(node_is_stopped(find("web")));
	ck_assert(!node_is_stopped(find("log")));
	end("web");
	ck_assert_uint_eq(find("web")->generation, 2);
	ck_assert_ptr_eq(order_start_blocker(service("web")), find("db"));
	end("db");
	ck_assert_uint_eq(find("db")->generation, 2);
	ck_assert(service("db")->wanted && service("web")->wanted);
	end("log");
}
END_TEST

/* "web" is back already and waits for "db", which is stopped still, but is to come back. */
START_TEST(another_stop_meanwhile_is_no_end_of_the_restart)
{
	run_all();
	shutdown_restart(&tree, find("db"), "test");
	end("web");
	shutdown_stop(&tree, find("log"), "test");
	turn();
	ck_assert(!node_is_stopped(find("web")));
	ck_assert(service("web")->wanted);
	end("log");
	end("db");
	ck_assert(service("db")->wanted);
}
END_TEST

START_TEST(a_stop_is_the_end_of_a_restart)
{
	run_all();
	shutdown_restart(&tree, find("db"), "test");
	if (_i > 0)
		end("web");
	shutdown_stop(&tree, find("db"), "test");
	turn();
	if (_i == 0)
		end("web");
	end("db");
	for (const char *const *path = (const char *const[]){ "db", "web", NULL }; *path; path++) {
		ck_assert(find(*path)->complete);
		ck_assert(!service(*path)->wanted);
	}
	end("log");
}
END_TEST

/* "g/a" is to come back, but "g" goes for good, for want of "db". */
START_TEST(nothing_comes_back_below_what_does_not)
{
	static const struct stated nested[] = {
		{ .path = "db" },
		{ .path = "g", .requires = "db" },
		{ .path = "g/a" },
		{ .path = NULL },
	};

	teardown();
	setup_tree(nested);
	run_all();
	shutdown_restart(&tree, find("g/a"), "test");
	shutdown_stop(&tree, find("db"), "test");
	ck_assert(!find("g/a")->restart);
	for (const char *const *path = (const char *const[]){ "g/a", "g", "db", NULL }; *path;
	     path++) {
		end(*path);
		ck_assert(find(*path)->complete);
	}
}
END_TEST

static const struct stated essential[] = {
	{ .path = "main", .essential = true },
	{ .path = NULL },
};

START_TEST(a_restart_is_no_end_of_an_essential_service)
{
	teardown();
	setup_tree(essential);
	run("main");
	if (_i > 0)
		service_handle(service("main"), EVENT_RETRY);
	process_remove(&service("main")->main);
	shutdown_restart(&tree, find("main"), "test");
	if (_i == 0)
		service_handle(service("main"), EVENT_DONE);
	turn();
	ck_assert_ptr_null(ctx.ended);
	ck_assert_uint_eq(find("main")->generation, 2);

	shutdown_stop(&tree, find("main"), "test");
	ck_assert_ptr_null(ctx.ended);
	ck_assert_int_eq(starting_begin(find("main")), 0);
	run("main");
	shutdown_stop(&tree, find("main"), "test");
	end("main");
	ck_assert_ptr_eq(ctx.ended, service("main"));
}
END_TEST

/* Nobody calls it essential any more; and it is not there to be asked for its status. */
START_TEST(the_end_of_a_retired_service_is_not_that_of_the_tree)
{
	static const struct stated nothing[] = { { .path = NULL } };

	teardown();
	setup_tree(essential);
	run("main");
	reload(nothing);
	end("main");
	ck_assert_ptr_null(tree_find(&tree, "main"));
	ck_assert_ptr_null(ctx.ended);
}
END_TEST

START_TEST(who_has_ended_and_is_gone_is_forgotten)
{
	static const struct stated nothing[] = { { .path = NULL } };

	teardown();
	setup_tree(essential);
	run("main");
	end("main");
	ck_assert_ptr_eq(ctx.ended, service("main"));
	reload(nothing);
	turn();
	ck_assert_ptr_null(tree_find(&tree, "main"));
	ck_assert_ptr_null(ctx.ended);
}
END_TEST

/* --- what is left behind --- */

/* No process has such a number. */
#define NO_PID 0x7ffffff0

START_TEST(what_a_kill_does_not_end_is_killed_again_only_later)
{
	struct service *s = service("log");
	uint64_t now;

	run("log");
	s->main.pid = NO_PID;
	service_handle(s, EVENT_ORPHANED);
	ck_assert_int_eq(s->state, STATE_CLEANING);
	s->ending.limit_usec = now = clock_now_usec();
	service_handle(s, EVENT_TIMEOUT);
	ck_assert_int_eq(s->state, STATE_CLEANING);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_ge(s->timeout_usec, now + USEC_PER_SEC);
		ck_assert_uint_le(s->timeout_usec, clock_now_usec() + USEC_PER_SEC);
		service_handle(s, EVENT_ORPHANED);
	}
	end("log");
}
END_TEST

START_TEST(a_leftover_is_guarded_until_what_it_leaves_is_known)
{
	struct service *s = service("log");
	struct reap_exit exit = { .pid = NO_PID + 1 };

	run("log");
	s->main.pid = NO_PID;
	ck_assert_int_eq(service_adopt(s, NO_PID + 1, NO_PID + 1, "first"), 0);
	service_settle_exit(s);
	shutdown_stop(&tree, find("log"), "test");

	service_process_died(s, process_find(&processes, NO_PID + 1), &exit);
	ck_assert_int_eq(swansong_state(find("log")->handle), SWANSONG_SHUTTING_DOWN);
	ck_assert_int_eq(service_adopt(s, NO_PID + 2, NO_PID + 2, "second"), 0);
	service_settle_exit(s);
	ck_assert_uint_eq(swansong_guard_count(find("log")->handle), 1);

	exit.pid = NO_PID + 2;
	service_process_died(s, process_find(&processes, NO_PID + 2), &exit);
	ck_assert_int_eq(swansong_state(find("log")->handle), SWANSONG_SHUTTING_DOWN);
	service_settle_exit(s);
	turn();
	ck_assert(find("log")->complete);
	ck_assert_int_eq(s->state, STATE_DOWN);
}
END_TEST

START_TEST(a_leftover_is_of_the_generation_of_its_run)
{
	struct service *s = service("log");
	struct reap_exit exit = { .pid = NO_PID + 1 };
	struct process *first, *second;

	run("log");
	s->main.pid = NO_PID;
	shutdown_stop(&tree, find("log"), "test");
	ck_assert_int_eq(starting_begin(find("log")), 0);
	ck_assert_uint_eq(find("log")->generation, 2);
	ck_assert_int_eq(service_adopt(s, NO_PID + 1, NO_PID + 1, "first"), 0);
	service_settle_exit(s);
	ck_assert_int_eq(service_adopt(s, NO_PID + 2, NO_PID + 2, "second"), 0);
	first = process_find(&processes, NO_PID + 1);
	second = process_find(&processes, NO_PID + 2);
	ck_assert_uint_eq(first->generation, 1);
	ck_assert_uint_eq(second->generation, 1);
	ck_assert_uint_eq(swansong_guard_count(find("log")->handle), 0);
	ck_assert(node_is_draining(find("log")));

	service_process_died(s, first, &exit);
	exit.pid = NO_PID + 2;
	service_process_died(s, second, &exit);
	service_settle_exit(s);
	ck_assert(!node_is_draining(find("log")));
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("daemon-stop");
	TCase *tc = tcase_create("daemon-stop");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, who_only_comes_after_does_not_wait_for_who_waits_in_vain);
	tcase_add_test(tc, who_comes_after_a_failure_is_not_hopeless);
	tcase_add_test(tc, what_is_wanted_is_brought_along_but_may_fail);
	tcase_add_test(tc, what_is_term_after_waits_with_its_signal_only);
	tcase_add_test(tc, what_is_term_after_something_else_loses_that_with_it);
	tcase_add_test(tc, a_retired_node_goes_with_its_last_process);
	tcase_add_test(tc, a_retired_node_that_was_complete_goes_at_once);
	tcase_add_test(tc, a_retired_node_stays_for_an_earlier_generation);
	tcase_add_test(tc, a_retired_node_stays_for_a_lease);
	tcase_add_test(tc, what_is_retired_is_not_started_again);
	tcase_add_test(tc, who_does_not_require_it_any_more_runs_on);
	tcase_add_test(tc, a_start_meanwhile_opens_no_gate);
	tcase_add_test(tc, a_force_leaves_nothing_of_the_budget);
	tcase_add_test(tc, a_restart_takes_along_what_requires_it);
	tcase_add_test(tc, another_stop_meanwhile_is_no_end_of_the_restart);
	tcase_add_loop_test(tc, a_stop_is_the_end_of_a_restart, 0, 2);
	tcase_add_test(tc, nothing_comes_back_below_what_does_not);
	tcase_add_loop_test(tc, a_restart_is_no_end_of_an_essential_service, 0, 2);
	tcase_add_test(tc, the_end_of_a_retired_service_is_not_that_of_the_tree);
	tcase_add_test(tc, who_has_ended_and_is_gone_is_forgotten);
	tcase_add_test(tc, what_a_kill_does_not_end_is_killed_again_only_later);
	tcase_add_test(tc, a_leftover_is_of_the_generation_of_its_run);
	tcase_add_test(tc, a_leftover_is_guarded_until_what_it_leaves_is_known);
	suite_add_tcase(s, tc);
	return s;
}
