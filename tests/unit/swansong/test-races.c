/*
 * A fixed number of transitions on a few threads, each checked at its end: one node, siblings,
 * levels, children against a stop; and threads that wait for the stop.  tests/stress races at
 * random, for any time.
 */
#include "tests/unit/fixtures/swansong/pair.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macro.h"
#include "tests/unit/fixtures/swansong/caller.h"

static struct swansong *child_of(struct swansong *parent)
{
	struct swansong *s;

	ck_assert_int_eq(swansong_child(parent, &s), 0);
	return s;
}

/* ---- between empty and not ---- */

struct racer {
	struct caller caller;
	struct swansong *node;
	unsigned int transitions;
};

/* Each thread alone makes the node not empty and empty again, if the others let it. */
static long take_and_drop(void *arg)
{
	struct racer *racer = arg;
	long wrong = 0;

	for (unsigned int k = 0; k < racer->transitions; k++) {
		struct swansong_guard g = swansong_guard(racer->node);

		wrong += swansong_guard_count(racer->node) == 0;
		wrong += swansong_state(root) == SWANSONG_COMPLETE;
		swansong_guard_drop(&g);
	}
	return wrong;
}

/* On a tree that runs, is stopped before, or while they race. */
enum { RUNNING, STOPPED, STOPPING, N_WAYS };

static void race(struct swansong *const node[], size_t n, unsigned int transitions, int way)
{
	struct racer racer[6];

	ck_assert_uint_le(n, ARRAY_SIZE(racer));
	if (way == STOPPED)
		swansong_shut_down(root);
	for (size_t k = 0; k < n; k++) {
		racer[k].node = node[k];
		racer[k].transitions = transitions;
		caller_start(&racer[k].caller, take_and_drop, &racer[k]);
	}
	if (way == STOPPING)
		swansong_shut_down(root);
	for (size_t k = 0; k < n; k++)
		ck_assert_int_eq(caller_join(&racer[k].caller), 0);
	for (size_t k = 0; k < n; k++)
		ck_assert_uint_eq(swansong_guard_count(node[k]), 0);
	ck_assert_uint_eq(swansong_guard_count(root), 0);
	swansong_shut_down(root);
	ck_assert_int_eq(swansong_wait(root, USEC_INFINITY), 0);
	ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
}

START_TEST(four_threads_on_one_node)
{
	race((struct swansong *[]){ child, child, child, child }, 4, 500, _i);
}
END_TEST

START_TEST(six_threads_on_siblings)
{
	struct swansong *sibling[6];

	for (size_t k = 0; k < ARRAY_SIZE(sibling); k++)
		sibling[k] = child_of(child);
	race(sibling, ARRAY_SIZE(sibling), 200, _i);
	for (size_t k = 0; k < ARRAY_SIZE(sibling); k++)
		swansong_unref(sibling[k]);
}
END_TEST

START_TEST(four_threads_on_three_levels)
{
	struct swansong *leaf = child_of(child);

	race((struct swansong *[]){ root, child, leaf, leaf }, 4, 200, _i);
	swansong_unref(leaf);
}
END_TEST

/* ---- children against a stop ---- */

static long make_children(void *arg)
{
	long running = 0;

	for (int k = 0; k < 40; k++) {
		struct swansong *s = child_of(arg);
		struct swansong_guard g = swansong_guard(s);
		bool stopped = swansong_stopped_wait(arg, 0) == 0;

		/* Born before or after, it is stopped now, or soon: a wait for it ends. */
		if (stopped && swansong_stopped_wait(s, USEC_INFINITY) < 0)
			running++;
		swansong_guard_drop(&g);
		swansong_unref(s);
	}
	return running;
}

START_TEST(four_threads_make_forty_children_each_against_a_stop)
{
	for (int round = 0; round < 50; round++) {
		struct caller c[4];

		for (size_t k = 0; k < ARRAY_SIZE(c); k++)
			caller_start(&c[k], make_children, child);
		swansong_shut_down(root);
		for (size_t k = 0; k < ARRAY_SIZE(c); k++)
			ck_assert_int_eq(caller_join(&c[k]), 0);
		ck_assert_int_eq(swansong_state(root), SWANSONG_COMPLETE);
		ck_assert_uint_eq(swansong_guard_count(root), 0);
		drop_pair();
		make_pair();
	}
}
END_TEST

/* ---- threads that wait for the stop ---- */

static long wait_stopped(void *arg)
{
	return swansong_stopped_wait(arg, USEC_INFINITY);
}

START_TEST(a_wait_for_the_stop_does_not_wait_for_guards_and_can_be_repeated)
{
	struct swansong_guard g = swansong_guard(child);
	struct caller c;

	caller_start(&c, wait_stopped, child);
	caller_wait_asleep(&c);
	swansong_shut_down(_i ? root : child); /* by the parent, or by itself */
	ck_assert_int_eq(caller_join(&c), 0);
	ck_assert_int_eq(swansong_stopped_wait(child, USEC_INFINITY), 0);
	ck_assert_int_eq(swansong_stopped_wait(child, 0), 0);
	swansong_guard_drop(&g);
}
END_TEST

START_TEST(a_wait_for_the_stop_ends_when_the_root_is_dropped)
{
	struct caller c;

	caller_start(&c, wait_stopped, child);
	caller_wait_asleep(&c);
	root = swansong_unref(root);
	ck_assert_int_eq(caller_join(&c), 0);
}
END_TEST

/* The descriptor that was there before blocks while others come, and is polled again and again. */
START_TEST(a_descriptor_of_the_stop_serves_before_and_after_it)
{
	int fd = swansong_stopped_fd(child);
	struct caller c;

	ck_assert(!is_readable(fd));
	ck_assert(!is_readable(fd));
	caller_start(&c, wait_stopped, child);
	caller_wait_asleep(&c);
	swansong_shut_down(root);
	ck_assert_int_eq(caller_join(&c), 0);
	for (int k = 0; k < 3; k++) {
		ck_assert(is_readable(fd));
		ck_assert_int_eq(swansong_stopped_fd(child), fd);
	}
}
END_TEST

/* ---- children change nothing, in each state of the parent ---- */

START_TEST(children_come_and_go_unseen_in_every_state_of_their_parent)
{
	enum swansong_state state = (enum swansong_state)_i;
	struct swansong_guard g = { 0 };
	struct swansong_completion *c;
	uint64_t guards;
	bool done;

	if (state != SWANSONG_COMPLETE)
		g = swansong_guard(child);
	if (state != SWANSONG_RUNNING)
		swansong_shut_down(root);
	ck_assert_int_eq(swansong_completion_new(root, &c), 0);
	done = swansong_completion_done(c);
	guards = swansong_guard_count(root);
	for (int k = 0; k < 10; k++) {
		struct swansong *s = child_of(k % 2 ? child : root);

		ck_assert_int_eq(swansong_state(root), state);
		ck_assert_uint_eq(swansong_guard_count(root), guards);
		s = swansong_unref(s);
		ck_assert_int_eq(swansong_state(root), state);
		ck_assert(swansong_completion_done(c) == done);
	}
	swansong_guard_drop(&g);
	swansong_completion_unref(c);
}
END_TEST

/* ---- beside walks through many nodes, which let others go first ---- */

static struct swansong *busy;
static unsigned int begun; /* threads that have made a first round */
static bool over;

/* A guard that alone keeps its node, a child that is stopped, and one that is not. */
static long come_and_go(void *arg)
{
	long rounds = 0;

	(void)arg;
	for (; !__atomic_load_n(&over, __ATOMIC_RELAXED); rounds++) {
		struct swansong *a = child_of(busy), *b = child_of(a);

		if (rounds % 2)
			swansong_shut_down(a);
		a = swansong_unref(a);
		b = swansong_unref(b);
		if (rounds == 0)
			__atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
	}
	return rounds;
}

/* On a busy machine the test may else be over before another thread has its first turn. */
static void start_rounds(struct caller caller[], unsigned int n)
{
	over = false;
	begun = 0;
	for (unsigned int k = 0; k < n; k++)
		caller_start(&caller[k], come_and_go, NULL);
	while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < n)
		sched_yield();
}

static void end_rounds(struct caller caller[], unsigned int n)
{
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (unsigned int k = 0; k < n; k++)
		ck_assert_int_gt(caller_join(&caller[k]), 0);
	busy = swansong_unref(busy);
}

static void count_call(void *arg)
{
	++*(unsigned int *)arg;
}

/* The resolution of many completions lets others go first, such as stops of children. */
START_TEST(each_of_many_completions_of_a_node_resolves_once)
{
	enum { COMPLETIONS = 20000 };
	static unsigned int calls[COMPLETIONS];
	struct swansong_completion **c = calloc(COMPLETIONS, sizeof(struct swansong_completion *));
	struct swansong_guard guard = swansong_guard(root);
	struct caller caller[2];

	busy = child_of(root);
	for (size_t k = 0; k < COMPLETIONS; k++) {
		ck_assert_int_eq(swansong_completion_new(root, &c[k]), 0);
		ck_assert_int_eq(swansong_completion_notify(c[k], count_call, &calls[k]), 0);
	}
	swansong_shut_down(root);
	start_rounds(caller, ARRAY_SIZE(caller));
	swansong_guard_drop(&guard);
	for (size_t k = 0; k < COMPLETIONS; k++) {
		ck_assert(swansong_completion_done(c[k]));
		ck_assert_uint_eq(calls[k], 1);
		c[k] = swansong_completion_unref(c[k]);
	}
	end_rounds(caller, ARRAY_SIZE(caller));
	free(c);
}
END_TEST

START_TEST(a_count_is_exact_beside_children_and_stops)
{
	enum { NODES = 3000, HELD = 5 };
	struct swansong **node = calloc(NODES, sizeof(struct swansong *));
	struct swansong_guard held[HELD];
	struct caller caller[2];

	busy = child_of(root);
	for (size_t k = 0; k < NODES; k++)
		node[k] = child_of(k % 7 ? node[k - 1] : root);
	for (size_t k = 0; k < HELD; k++)
		held[k] = swansong_guard(node[k * 500 + 3]);
	start_rounds(caller, ARRAY_SIZE(caller));
	for (size_t k = 0; k < NODES; k += 10) {
		ck_assert_uint_eq(swansong_guard_count(root), HELD);
		swansong_shut_down(node[NODES - 1 - k]);
	}
	swansong_shut_down(root);
	for (size_t k = 0; k < NODES; k++)
		ck_assert_int_ne(swansong_state(node[k]), SWANSONG_RUNNING);
	ck_assert_uint_eq(swansong_guard_count(root), HELD);
	for (size_t k = 0; k < HELD; k++)
		swansong_guard_drop(&held[k]);
	ck_assert_int_eq(swansong_wait(root, USEC_INFINITY), 0);
	end_rounds(caller, ARRAY_SIZE(caller));
	for (size_t k = 0; k < NODES; k++)
		(void)swansong_unref(node[k]);
	free(node);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("swansong-races");
	TCase *tc = tcase_create("races");

	tcase_add_checked_fixture(tc, make_pair, drop_pair);
	tcase_add_loop_test(tc, four_threads_on_one_node, 0, N_WAYS);
	tcase_add_loop_test(tc, six_threads_on_siblings, 0, N_WAYS);
	tcase_add_loop_test(tc, four_threads_on_three_levels, 0, N_WAYS);
	tcase_add_test(tc, four_threads_make_forty_children_each_against_a_stop);
	tcase_add_loop_test(tc, a_wait_for_the_stop_does_not_wait_for_guards_and_can_be_repeated, 0,
			    2);
	tcase_add_test(tc, a_wait_for_the_stop_ends_when_the_root_is_dropped);
	tcase_add_test(tc, a_descriptor_of_the_stop_serves_before_and_after_it);
	tcase_add_loop_test(tc, children_come_and_go_unseen_in_every_state_of_their_parent, 0,
			    SWANSONG_COMPLETE + 1);
	tcase_add_test(tc, each_of_many_completions_of_a_node_resolves_once);
	tcase_add_test(tc, a_count_is_exact_beside_children_and_stops);
	suite_add_tcase(suite, tc);
	return suite;
}
