/*
 * A walk through random causes, in any order: starts, stops, restarts, ends and failures of
 * services, strategies, reloads, transient services, leases, remaining processes, expired budgets,
 * and time that passes.  The promises hold after each turn in which no task is pending; in the end
 * no node waits for another that does not come.
 *
 * A walk that fails names its seed: WALK_SEED=N repeats it alone.
 */
#include "tests/unit/fixtures/daemon/tree-world.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "daemon/loop/closer.h"
#include "daemon/node/stop-order.h"
#include "daemon/reap/exit.h"
#include "daemon/reload/transient.h"
#include "daemon/spawn/final.h"
#include "daemon/tree/deadline.h"
#include "daemon/tree/edges.h"
#include "daemon/tree/goals.h"
#include "daemon/tree/start-order.h"
#include "tests/unit/fixtures/random-config.h"

#define LOOPS	  20 /* each in a process of its own */
#define WALKS	  50 /* of each loop */
#define STEPS	  120
#define LEASES	  4
#define TURNS_MAX 500
#define NODES	  64

static struct walk {
	unsigned seed, random, step;
	struct lease *leases[LEASES];
	pid_t last_pid; /* of a remaining process */
	FILE *nowhere;
	bool by_hand; /* the step may raise stopped nodes */
} walk;

static unsigned below(unsigned n)
{
	return random_below(&walk.random, n);
}

/* Prints the tree of a walk that has failed. */
static void dump(void)
{
	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		const struct service *s = n->service;
		struct node *blocker = s ? start_order_blocker(s) : NULL;

		(void)fprintf(stderr,
			      "%-8s goal %u (%u) %s, generation %u, %d draining; %s%s%s%s\n",
			      node_name(n), n->goal, n->cause, node_state_name(n), n->generation,
			      n->draining, s ? fsm_state_name(s->state) : "group",
			      s && s->blocked ? ", blocked" : "", blocker ? ", waits for " : "",
			      blocker ? node_name(blocker) : "");
	}
}

#define promise(holds, node)                                                                \
	do {                                                                                \
		if (!(holds) && getenv("WALK_SEED"))                                        \
			dump();                                                             \
		ck_assert_msg(holds, "WALK_SEED=%u, step %u: %s: %s", walk.seed, walk.step, \
			      node_name(node), #holds);                                     \
	} while (0)

/* --- causes --- */

static void reload_something(void)
{
	cleanup(config_unrefp) struct config *config = random_config(&walk.random);
	cleanup(diag_freep) struct diag *diag = NULL;

	if (!config)
		return;
	ck_assert_int_eq(diag_new(&diag), 0);
	ck_assert_int_eq(edges_check(&tree, config, false, NULL, diag), 0);
	if (diag_errors(diag) == 0)
		reload_config_now(config);
}

static struct node *some_node(void)
{
	struct node *nodes[NODES];
	unsigned n = 0;

	for (struct node *i = tree.root; i && n < NODES; i = node_next(i, tree.root))
		nodes[n++] = i;
	return nodes[below(n)];
}

static void stop_something(void)
{
	struct node *node = some_node();

	if (node->parent)
		goals_lower_one(&tree, node, CAUSE_OPERATOR, REQUEST_STOP, "test");
}

static void restart_something(void)
{
	struct node *node = some_node();
	struct goals goals;

	if (!node->parent)
		return;
	walk.by_hand = true;
	goals_begin(&goals, &tree, CAUSE_OPERATOR);
	(void)goals_restart(&goals, node, "test");
	goals_commit(&goals);
}

static void start_something(void)
{
	walk.by_hand = true;
	(void)goals_start(some_node(), CAUSE_OPERATOR, false);
}

static void fail_something(void)
{
	struct service *s = some_node()->service;

	if (s && s->main.alive)
		end_process(s, below(3) ? 1 : 0);
}

static void make_something_ready(void)
{
	struct service *s = some_node()->service;

	if (s && s->state == STATE_STARTING && s->config->type == TYPE_SIMPLE)
		service_post(s, EVENT_READY);
}

static void run_something(void)
{
	const char *group = random_group(&walk.random);
	char path[32], edge[64], *properties[] = { NULL, NULL }, *argv[] = { (char *)"z", NULL };
	struct node *node;

	walk.by_hand = true;
	(void)snprintf(path, sizeof(path), "%s%st%u", group, *group ? "/" : "", below(4));
	(void)snprintf(edge, sizeof(edge), "%s = %s", below(2) ? "requires" : "after",
		       random_path(&walk.random));
	if (below(2))
		properties[0] = edge;
	(void)transient_add(
		&tree,
		&(struct transient_run){
			.path = path, .properties = properties, .argv = argv, .keep = below(2) },
		walk.nowhere, &node);
}

static void hold_something(void)
{
	static const struct ucred peer = { .pid = 0 };
	const struct lease_wish wish = {
		.peer = &peer,
		.why = "",
		.ttl_usec = below(2) ? USEC_INFINITY : 30 * SEC,
		.late = below(2),
	};
	struct lease **lease = &walk.leases[below(LEASES)];

	*lease = lease_free(*lease);
	(void)lease_new(lease, some_node(), &wish);
}

static void force_something(void)
{
	deadline_force_soon(some_node());
}

static void leave_something(void)
{
	struct service *s = some_node()->service;

	if (s && s->main.alive && service_may_have_remaining(s)) {
		walk.last_pid++;
		ck_assert_int_eq(service_adopt(s, walk.last_pid, walk.last_pid, "leftover"), 0);
	}
}

static void let_time_pass(void)
{
	pass(below(2) ? SEC : 60 * SEC);
}

/* Ends all or some of the processes that were asked to end. */
static void end_some_asked(bool all)
{
	for (struct node *n = tree.root; n; n = node_next(n, tree.root))
		if (n->service && is_asked(n->service) && (all || below(2)))
			end_process(n->service, 0);
}

/* Ends all or some of the commands and remaining processes.  Returns true if there was any. */
static bool end_others(bool all)
{
	struct process *p, *next;
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(processes.buckets); i++) {
		list_for_each_safe (p, next, &processes.buckets[i], by_pid) {
			struct reap_exit exit = { .pid = p->pid };

			if (p->kind == PROCESS_MAIN || !p->alive || !(all || below(4) == 0))
				continue;
			exit.value = !all && below(4) == 0;
			if (p->kind == PROCESS_HOOK)
				hook_died(p, &exit);
			else if (p->kind == PROCESS_CLOSER)
				closer_died(p, &exit);
			else
				service_process_died(p->service, p, &exit);
			any = true;
		}
	}
	return any;
}

static void do_nothing(void)
{
}

/* --- the promises --- */

static bool is_coming_up(const struct service *s)
{
	return fsm_is_coming_up(s->state) || s->state == STATE_UP;
}

static void check_goal(const struct node *n)
{
	const struct service *s = n->service;
	bool runs = is_coming_up(s) || s->state == STATE_BACKOFF || s->state == STATE_DONE ||
		    s->state == STATE_FAILED;

	promise(!runs || node_goal(n) > GOAL_CYCLE, n);
	if (service_is_wanted(s) && s->state == STATE_DOWN)
		promise(start_order_is_blocked(s) || s->not_before_usec > clock_now_usec(), n);
	promise(!s->blocked || start_order_culprit(s), n);
}

static void check_generation(struct node *n)
{
	promise(node_goal(n) > GOAL_CYCLE || node_is_stopped(n), n);
	promise(node_goal(n) < GOAL_IDLE || !node_is_stopped(n), n);
	promise(!node_is_stopped(n) || n->complete || n->draining > 0, n);
	promise(n->goal != GOAL_CYCLE || !n->complete, n);
}

static void check_promises(void)
{
	check_counts();
	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		check_generation(n);
		if (n->service)
			check_goal(n);
	}
}

/* Services are compared right before and after a turn. */
struct seen {
	const struct node *node;
	enum service_state state;
	enum goal goal;
	const struct node *by; /* the node with that goal: @node, or one above */
	enum goal_cause cause; /* of that goal */
	bool blocked;
};

static const struct node *see_by(const struct node *node)
{
	while (node->goal > node_goal(node))
		node = node->parent;
	return node;
}

static size_t see(struct seen seen[static NODES])
{
	size_t n = 0;

	for (struct node *i = tree.root; i; i = node_next(i, tree.root)) {
		ck_assert_uint_lt(n, NODES);
		seen[n++] = (struct seen){
			.node = i,
			.state = i->service ? i->service->state : STATE_INVALID,
			.goal = node_goal(i),
			.by = see_by(i),
			.cause = see_by(i)->cause,
			.blocked = i->service && i->service->blocked,
		};
	}
	return n;
}

static const struct seen *seen_before(const struct seen *seen, size_t n, const struct node *node)
{
	for (size_t i = 0; i < n; i++)
		if (seen[i].node == node)
			return &seen[i];
	return NULL;
}

/* It was not waited for before, and is now. */
static bool was_blocked(struct node *top, const struct seen *seen, size_t n)
{
	for (struct node *i = top; i; i = node_next(i, top)) {
		const struct seen *before = seen_before(seen, n, i);

		if (before && before->blocked && !i->service->blocked)
			return true;
	}
	return false;
}

/* A later change in the same turn is no reason not to have started or signalled. */
static void check_order(const struct node *node, const struct seen *seen, size_t n)
{
	enum service_state before = seen_before(seen, n, node)->state;
	const struct service *s = node->service;
	struct node *blocker;

	if (is_coming_up(s) && (before == STATE_DOWN || before == STATE_BACKOFF)) {
		blocker = start_order_blocker(s);
		promise(!blocker || was_blocked(blocker, seen, n), node);
		for (const struct node *above = node; above; above = above->parent)
			promise(!final_is_pending(above) || node_is_stopped(above), node);
	}
	/* When the main process ends while it waits, its remaining processes are ended at once. */
	if (before == STATE_WAITING && s->main.alive &&
	    (s->state == STATE_ASKING || s->state == STATE_STOPPING)) {
		blocker = stop_order_blocker(node);
		promise(!blocker || blocker->stop_usec > s->since_usec, node);
	}
}

static void check_turn(const struct seen *seen, size_t n)
{
	for (struct node *i = tree.root; i; i = node_next(i, tree.root))
		if (i->service && seen_before(seen, n, i))
			check_order(i, seen, n);
}

static void quiet(void)
{
	struct seen seen[NODES];

	while (agenda_is_due(&ctx.agenda)) {
		size_t n = see(seen);

		turn();
		check_turn(seen, n);
	}
	check_promises();
}

static bool is_freed(const struct seen *before)
{
	struct node *const *bound = node_edges(before->by, EDGE_BINDS_TO);

	return before->cause == CAUSE_FAILURE && !(bound && *bound);
}

/*
 * A node that was stopped by request is raised only by request; one that was bound to what has ended, also by a reload
 * without the binding.
 */
static void check_stopped(const struct seen *seen, size_t n)
{
	for (struct node *i = tree.root; i; i = node_next(i, tree.root)) {
		const struct seen *before = seen_before(seen, n, i);

		if (before && i->service && before->goal == GOAL_DOWN && !is_freed(before))
			promise(node_goal(i) <= GOAL_DOWN, i);
	}
}

static void step(void)
{
	static void (*const causes[])(void) = {
		reload_something, stop_something, restart_something, restart_something,
		start_something,  fail_something, fail_something,    make_something_ready,
		run_something,	  hold_something, leave_something,   force_something,
		let_time_pass,	  do_nothing,
	};
	struct seen seen[NODES];
	size_t n = see(seen);

	walk.by_hand = false;
	causes[below(ARRAY_SIZE(causes))]();
	if (below(4) == 0)
		end_some_asked(false);
	if (below(2))
		(void)end_others(false);
	/* Several causes may come in one turn. */
	if (below(5) == 0)
		return;
	quiet();
	if (!walk.by_hand)
		check_stopped(seen, n);
}

/* --- the end --- */

/*
 * Ends processes that were asked to end and makes starting services ready.  Returns true if there
 * was any.
 */
static bool let_some_go_on(void)
{
	bool any = end_others(true);

	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		struct service *s = n->service;

		if (!s || !s->main.alive || !(is_asked(s) || s->state == STATE_STARTING))
			continue;
		if (is_asked(s) || s->setup.launch.config->type == TYPE_ONESHOT)
			end_process(s, 0);
		else
			service_post(s, EVENT_READY);
		any = true;
	}
	quiet();
	return any;
}

static void let_all_end(void)
{
	int turns = 0;

	for (unsigned i = 0; i < LEASES; i++)
		walk.leases[i] = lease_free(walk.leases[i]);
	do {
		while (let_some_go_on())
			if (turns++ == TURNS_MAX) {
				dump();
				ck_abort_msg("WALK_SEED=%u: it does not come to rest", walk.seed);
			}
		pass(600 * SEC);
	} while (let_some_go_on());
}

static void check_end(void)
{
	for (struct node *n = tree.root; n; n = node_next(n, tree.root)) {
		const struct service *s = n->service;

		promise(n->draining == 0, n);
		promise(n->goal != GOAL_CYCLE, n);
		promise(n->goal != GOAL_GONE || !list_is_empty(&n->children), n);
		/* Nodes that still wait do so for something that only a request can change. */
		if (s && service_is_wanted(s) && !is_coming_up(s))
			promise(s->state == STATE_FAILED || s->state == STATE_DONE || s->blocked,
				n);
	}
}

static void walk_once(unsigned seed)
{
	struct config *config = NULL;

	walk = (struct walk){
		.seed = seed,
		.random = seed,
		.last_pid = 0x7f000000, /* no process has this pid or a higher one */
		.nowhere = walk.nowhere,
	};
	while (!config)
		config = random_config(&walk.random);
	begin_with(config);
	quiet();
	for (walk.step = 0; walk.step < STEPS; walk.step++)
		step();
	quiet();
	let_all_end();
	check_end();
	goals_lower_one(&tree, tree.root, CAUSE_SHUTDOWN, REQUEST_STOP, "test");
	quiet();
	let_all_end();
	ck_assert_msg(tree.root->complete, "WALK_SEED=%u: the root is not Complete", seed);
	finish();
}

START_TEST(promises_hold_after_random_causes)
{
	const char *seed = getenv("WALK_SEED");
	unsigned first = seed ? (unsigned)strtoul(seed, NULL, 10) : (unsigned)_i * WALKS;

	walk.nowhere = fopen("/dev/null", "w");
	ck_assert_ptr_nonnull(walk.nowhere);
	for (unsigned i = 0; i < (seed ? 1 : WALKS); i++)
		walk_once(first + i);
	(void)fclose(walk.nowhere);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("walk");
	TCase *tc = tcase_create("walk");

	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, promises_hold_after_random_causes, 0,
			    getenv("WALK_SEED") ? 1 : LOOPS);
	suite_add_tcase(s, tc);
	return s;
}
