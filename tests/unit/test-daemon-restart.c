#include "stated-tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/activation.h"
#include "daemon/order.h"
#include "daemon/service-exit.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"

/* What comes back, and what does not. */

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

/* Who was to come back with what is around it, which cannot; else who waits for it waits for ever. */
START_TEST(nothing_is_to_come_back_with_what_cannot)
{
	static const struct stated nested[] = {
		{ .path = "g" },
		{ .path = "g/h" },
		{ .path = "g/h/a" },
		{ .path = NULL },
	};

	teardown();
	setup_tree(nested);
	run("g/h/a");
	shutdown_stop(&tree, find("g"), "test");
	shutdown_restart(&tree, find("g/h"), "test");
	shutdown_restart(&tree, find("g/h/a"), "test");
	end("g/h/a");
	turn();
	ck_assert(find("g")->complete);
	ck_assert(!find("g/h")->restart);
	ck_assert(!find("g/h/a")->restart);
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

static size_t stored(const char *path)
{
	return activation_fdstore(service(path)->launch.activation)->n;
}

/* It is down, and was to come back: back already but for what it requires, or not yet. */
START_TEST(who_does_not_come_back_after_all_keeps_no_descriptor)
{
	struct swansong_guard guard;

	teardown();
	begin_with(load("[a]\ncommand = x\nnotify = yes\nrequires = b\n[b]\ncommand = x\n"));
	run("b");
	run("a");
	ck_assert_int_eq(activation_store(service("a")->launch.activation, dup(2), "x", false), 0);
	guard = swansong_guard(find("a")->work);
	shutdown_restart(&tree, find("b"), "test");
	if (_i > 0)
		swansong_guard_drop(&guard);
	end("a");
	ck_assert_uint_eq(find("a")->generation, 1 + (unsigned)_i);
	ck_assert_int_eq(service("a")->state, STATE_DOWN);
	ck_assert_uint_eq(stored("a"), 1);
	shutdown_stop(&tree, find("a"), "test");
	ck_assert_uint_eq(stored("a"), 0);
	if (_i == 0)
		swansong_guard_drop(&guard);
	turn();
	end("b");
}
END_TEST

/* Else who connects would wait for a service that does not come, for as long as the others take. */
START_TEST(who_is_down_has_no_open_socket_once_the_root_is_stopped)
{
	char path[] = "/tmp/test-restart.XXXXXX", text[128];

	teardown();
	ck_assert_ptr_nonnull(mkdtemp(path));
	(void)snprintf(text, sizeof(text), "[a]\ncommand = x\nlisten = unix:%s/s\n[b]\ncommand = x\n",
		       path);
	begin_with(load(text));
	run("b");
	shutdown_stop(&tree, find("a"), "test");
	turn();
	ck_assert(!list_is_empty(&ctx.listeners));
	shutdown_stop(&tree, tree.root, "test");
	ck_assert(list_is_empty(&ctx.listeners));
	ck_assert_int_eq(rmdir(path), 0);
	end("b");
}
END_TEST

TCase *restart_tests(void)
{
	TCase *tc = stated_case("restart");

	tcase_add_test(tc, a_restart_takes_along_what_requires_it);
	tcase_add_test(tc, another_stop_meanwhile_is_no_end_of_the_restart);
	tcase_add_loop_test(tc, a_stop_is_the_end_of_a_restart, 0, 2);
	tcase_add_test(tc, nothing_comes_back_below_what_does_not);
	tcase_add_test(tc, nothing_is_to_come_back_with_what_cannot);
	tcase_add_loop_test(tc, a_restart_is_no_end_of_an_essential_service, 0, 2);
	tcase_add_test(tc, the_end_of_a_retired_service_is_not_that_of_the_tree);
	tcase_add_test(tc, who_has_ended_and_is_gone_is_forgotten);
	tcase_add_test(tc, who_is_down_has_no_open_socket_once_the_root_is_stopped);
	tcase_add_loop_test(tc, who_does_not_come_back_after_all_keeps_no_descriptor, 0, 2);
	return tc;
}
