#include "reloaded-tree.h"

/*
 * A tree to which one thing after another happens, each possible one at any time: reloads, starts,
 * stops, restarts, failures, services of no file.  Whatever it was, in the end nobody waits for what
 * does not come, and the root can be stopped.
 */

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "config-of.h"
#include "daemon/failure.h"
#include "daemon/order.h"
#include "daemon/reload.h"
#include "daemon/setup.h"
#include "daemon/shutdown.h"
#include "daemon/starting.h"
#include "daemon/transient.h"

#define WALKS  100 /* of each loop */
#define TURNS  60  /* enough for all that is under way to end */
#define GUARDS 4

static const char *const groups[] = { "", "g", "k", "g/h" };
static const char *const services[] = { "a",   "b",   "g/a",   "g/b",  "g/c",
					"k/a", "k/b", "g/h/a", "g/h/b" };

static struct walk {
	unsigned random;
	struct swansong_guard guards[GUARDS];
	bool held[GUARDS];
	FILE *nowhere;
} walk;

static unsigned below(unsigned n)
{
	walk.random = walk.random * 1103515245 + 12345;
	return (walk.random >> 16) % n;
}

/* --- configurations --- */

static const char *some_path(void)
{
	return below(3) ? services[below(ARRAY_SIZE(services))] : groups[1 + below(3)];
}

static void write_edges(FILE *file)
{
	static const char *const edges[] = { "requires", "wants", "after", "term-after" };

	for (size_t i = 0; i < ARRAY_SIZE(edges); i++)
		if (below(5) == 0)
			(void)fprintf(file, "%s = %s\n", edges[i], some_path());
}

static void write_file(FILE *file)
{
	static const char *const strategies[] = { "one-for-one", "one-for-all", "rest-for-one" };

	for (size_t i = 1; i < ARRAY_SIZE(groups); i++) {
		(void)fprintf(file, "[%s]\nstrategy = %s\n", groups[i], strategies[below(3)]);
		if (below(3) == 0)
			write_edges(file);
	}
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		if (below(4) == 0)
			continue;
		(void)fprintf(file, "[%s]\n", services[i]);
		if (below(8))
			(void)fprintf(
				file,
				"command = %s\nrestart = always\nautostart = %s\nnotify = %s\n",
				below(2) ? "x" : "y", below(4) ? "yes" : "no",
				below(4) ? "no" : "yes");
		if (below(2))
			write_edges(file);
	}
}

/* NULL: there would be a circle, or a node that is not there. */
static struct config *some_config(void)
{
	static const struct config_names names = { NULL, NULL };
	cleanup(freep) char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(file);
	write_file(file);
	(void)fclose(file);
	return config_of_any(text, &names);
}

static void reload_something(void)
{
	cleanup(config_unrefp) struct config *config = some_config();
	cleanup(diag_freep) struct diag *diag = NULL;

	if (!config)
		return;
	ck_assert_int_eq(diag_new(&diag), 0);
	ck_assert_int_eq(transient_check(&tree, config, NULL, diag), 0);
	if (diag_errors(diag) == 0)
		ck_assert_int_eq(reload_apply(&tree, config), 0);
}

/* --- what happens --- */

static struct node *some_node(void)
{
	struct node *node = tree.root;
	unsigned n = 0;

	for (struct node *i = tree.root; i; i = node_next(i, tree.root))
		n++;
	for (n = below(n); n > 0; n--)
		node = node_next(node, tree.root);
	return node;
}

static void stop_something(void)
{
	struct node *node = some_node();

	if (node->parent)
		shutdown_stop(&tree, node, "test");
}

static void restart_something(void)
{
	struct node *node = some_node();

	if (!node->parent || node->retired || node_is_stopped(node->parent))
		return;
	if (below(2))
		starting_forget(node);
	shutdown_restart(&tree, node, "test");
}

static void start_something(void)
{
	(void)starting_begin(some_node());
}

static void fail_something(void)
{
	static const enum service_event events[] = { EVENT_RETRY, EVENT_RETRY, EVENT_DONE,
						     EVENT_FAIL };
	struct service *s = some_node()->service;

	if (!s || s->state != STATE_UP)
		return;
	service_handle(s, events[below(ARRAY_SIZE(events))]);
	process_remove(&s->main);
}

static void run_something(void)
{
	const char *group = groups[below(ARRAY_SIZE(groups))];
	char path[32], edge[64], *properties[] = { NULL, NULL }, *argv[] = { (char *)"z", NULL };
	struct node *node;

	(void)snprintf(path, sizeof(path), "%s%st%u", group, *group ? "/" : "", below(4));
	(void)snprintf(edge, sizeof(edge), "%s = %s", below(2) ? "requires" : "after", some_path());
	if (below(2))
		properties[0] = edge;
	(void)transient_add(&tree, path, properties, argv, below(2), walk.nowhere, &node);
}

static void hold_something(void)
{
	unsigned i = below(GUARDS);
	struct node *node = some_node();

	if (walk.held[i])
		swansong_guard_drop(&walk.guards[i]);
	walk.held[i] = !walk.held[i] && !node_is_stopped(node);
	if (walk.held[i])
		walk.guards[i] = swansong_guard(node->work);
}

/* The processes that have been asked to are gone; of those that have, all or some. */
static void end_asked(bool all)
{
	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		struct service *s = n->service;

		if (!s || !fsm_is_going_down(s->state) || s->state == STATE_GATED ||
		    !(all || below(2)))
			continue;
		service_handle(s, EVENT_DONE);
		process_remove(&s->main);
	}
}

/* As order_pump() has it, but without a process; a service that was there before is not any more. */
static void start_waiting(void)
{
	struct service *s, *next;

	list_for_each_safe (s, next, &ctx.waiting, in_waiting) {
		struct service_tally before = service_tally(s);

		if (fsm_has_process(s->state) || order_start_blocker(s))
			continue;
		ctx.failed -= s->state == STATE_FAILED;
		s->state = STATE_DOWN;
		s->together = false;
		service_retally(s, before);
		service_use_next_setup(s);
		run_service(s);
	}
}

/* All that daemon_settle() does here. */
static void settle(void)
{
	failure_follow(&tree);
	order_release(&ctx);
	start_waiting();
	(void)shutdown_follow(&tree);
	transient_settle(&tree);
}

/* --- the end --- */

static void let_all_end(void)
{
	for (int i = 0; i < TURNS; i++) {
		end_asked(true);
		settle();
		for (struct node *n = tree.root; n; n = node_next(n, tree.root))
			if (n->service && n->service->state == STATE_BACKOFF && !node_is_stopped(n))
				service_handle(n->service, EVENT_FAIL);
	}
}

static void assert_nothing_is_stuck(void)
{
	struct service *s;

	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		ck_assert_msg(!node_is_draining(n), "walk %u: %s", walk.random, node_name(n));
		ck_assert_msg(!node_is_stopped(n) || n->complete, "%s", node_name(n));
		ck_assert_msg(!n->restart, "%s comes not back", node_name(n));
		ck_assert_msg(!n->retired || !list_is_empty(&n->children), "%s stays",
			      node_name(n));
		ck_assert_msg(!n->service || !n->service->wanted || !node_is_stopped(n),
			      "%s is to run", node_name(n));
	}
	list_for_each (s, &ctx.waiting, in_waiting)
		ck_assert_msg(fsm_has_process(s->state) || order_start_blocker(s),
			      "%s waits for nobody", s->config->path);
}

static void walk_once(unsigned seed)
{
	static void (*const steps[])(void) = {
		reload_something,
		stop_something,
		restart_something,
		restart_something,
		start_something,
		fail_something,
		fail_something,
		run_something,
		hold_something,
		settle,
		settle,
		settle,
	};
	struct config *config = NULL;

	walk = (struct walk){ .random = seed, .nowhere = walk.nowhere };
	while (!config)
		config = some_config();
	begin_with(config);
	starting_by_itself(&tree);
	settle();
	for (unsigned n = 10 + below(60); n > 0; n--) {
		steps[below(ARRAY_SIZE(steps))]();
		if (below(6) == 0)
			end_asked(false);
	}
	for (unsigned i = 0; i < GUARDS; i++)
		if (walk.held[i])
			swansong_guard_drop(&walk.guards[i]);
	let_all_end();
	assert_nothing_is_stuck();
	shutdown_stop(&tree, tree.root, "test");
	let_all_end();
	ck_assert(tree.root->complete);
	finish();
}

START_TEST(whatever_happens_nobody_waits_for_ever)
{
	walk.nowhere = fopen("/dev/null", "w");
	ck_assert_ptr_nonnull(walk.nowhere);
	for (unsigned i = 0; i < WALKS; i++)
		walk_once((unsigned)_i * WALKS + i);
	(void)fclose(walk.nowhere);
}
END_TEST

TCase *walk_tests(void)
{
	TCase *tc = tcase_create("walk");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, whatever_happens_nobody_waits_for_ever, 0, 20);
	return tc;
}
