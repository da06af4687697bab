#include "stated-tree.h"

#include <errno.h>

#include "base/clock.h"
#include "daemon/lease.h"
#include "daemon/order.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"

/* Sections that are gone after a reload. */

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

TCase *retired_tests(void)
{
	TCase *tc = stated_case("retired");

	tcase_add_test(tc, a_retired_node_goes_with_its_last_process);
	tcase_add_test(tc, a_retired_node_that_was_complete_goes_at_once);
	tcase_add_test(tc, a_retired_node_stays_for_an_earlier_generation);
	tcase_add_test(tc, a_retired_node_stays_for_a_lease);
	tcase_add_test(tc, what_is_retired_is_not_started_again);
	tcase_add_test(tc, who_does_not_require_it_any_more_runs_on);
	return tc;
}
