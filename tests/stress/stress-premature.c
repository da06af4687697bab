/*
 * A completion that comes while a guard is held.  An accounting that counts upwards when a node
 * becomes empty or not can have it from three sides:
 *
 *	create	two threads take a guard on an empty node; the second one finds it not empty, and
 *		returns while the first one is still on its way up
 *	sibling	the same on two nodes, one level up
 *	drop	the last guard is dropped, and its thread has gone up one level when others take
 *
 * In every interleaving, up to a number of preemptions, of the library and of the flawed
 * accounting; the fault of that must be found from each side.  $STRESS_PREEMPTIONS raises the
 * bound.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "explore.h"
#include "flawed.h"
#include "swansong/count/count-private.h"
#include <swansong/swansong.h>

enum { ROOT, MID, LEAF, OTHER, NODES };

/* The act of a thread. */
enum act { TAKE_ON_LEAF, TAKE_ON_OTHER, DROP_EARLY, STOP };

static const struct side {
	const char *name;
	enum act act[EXPLORE_MAX_THREADS];
	bool stopped; /* before the threads begin, under the guard that is dropped */
} sides[] = {
	{ "create", { TAKE_ON_LEAF, TAKE_ON_LEAF, STOP }, false },
	{ "sibling", { TAKE_ON_LEAF, TAKE_ON_OTHER, STOP }, false },
	{ "drop", { DROP_EARLY, TAKE_ON_LEAF, TAKE_ON_LEAF }, true },
};

/* A tree that is counted by the library, or by the flawed accounting. */
struct accounting {
	const char *name;
	void (*begin)(void);
	void (*acquire)(unsigned int thread, unsigned int node);
	void (*drop)(unsigned int thread);
	void (*stop)(void);
	bool (*is_complete)(void); /* asks the root, in steps */
	bool (*is_empty)(void);	   /* the same in no step, stopped or not */
	void (*end)(void);
};

static const struct side *side;
static const struct accounting *accounting;
static bool held[EXPLORE_MAX_THREADS];

/* ---- the library ---- */

static struct swansong *node[NODES];
static struct swansong_guard guard[EXPLORE_MAX_THREADS];
static struct swansong_completion *completion;
static unsigned int calls;
static bool has_been_empty;

static void count_call(void *arg)
{
	(void)arg;
	calls++;
}

static void ours_begin(void)
{
	calls = 0;
	has_been_empty = false;
	if (swansong_new(&node[ROOT]) < 0 || swansong_child(node[ROOT], &node[MID]) < 0 ||
	    swansong_child(node[MID], &node[LEAF]) < 0 ||
	    swansong_child(node[MID], &node[OTHER]) < 0 ||
	    swansong_completion_new(node[ROOT], &completion) < 0 ||
	    swansong_completion_notify(completion, count_call, NULL) < 0)
		abort();
}

static void ours_take(unsigned int thread, unsigned int n)
{
	guard[thread] = swansong_guard(node[n]);
}

static void ours_drop(unsigned int thread)
{
	swansong_guard_drop(&guard[thread]);
}

static void ours_stop(void)
{
	swansong_shut_down(node[ROOT]);
}

static bool ours_is_complete(void)
{
	return swansong_state(node[ROOT]) == SWANSONG_COMPLETE;
}

static bool ours_is_empty(void)
{
	bool empty =
		!(atomic_load_explicit(&node[ROOT]->total, memory_order_relaxed) & COUNT_GUARDS);

	has_been_empty |= empty;
	if (calls && !has_been_empty)
		explore_fault("a completion is resolved too early");
	return empty;
}

static void ours_end(void)
{
	swansong_shut_down(node[ROOT]);
	if (calls != 1)
		explore_fault("a completion does not resolve");
	(void)swansong_completion_unref(completion);
	for (unsigned int i = NODES; i-- > 0;)
		(void)swansong_unref(node[i]);
}

/* ---- the flawed accounting ---- */

static struct flawed flawed[NODES];

static void flawed_begin(void)
{
	flawed[ROOT] = (struct flawed){ 0 };
	flawed[MID] = (struct flawed){ .parent = &flawed[ROOT] };
	flawed[LEAF] = flawed[OTHER] = (struct flawed){ .parent = &flawed[MID] };
}

static unsigned int flawed_home[EXPLORE_MAX_THREADS];

static void flawed_take_on(unsigned int thread, unsigned int n)
{
	flawed_take(&flawed[n]);
	flawed_home[thread] = n;
}

static void flawed_drop_of(unsigned int thread)
{
	flawed_drop(&flawed[flawed_home[thread]]);
}

static void flawed_stop_root(void)
{
	flawed_stop(&flawed[ROOT]);
}

static bool flawed_root_is_complete(void)
{
	return flawed_is_complete(&flawed[ROOT]);
}

static bool flawed_root_is_empty(void)
{
	return atomic_load_explicit(&flawed[ROOT].count, memory_order_relaxed) == 0;
}

static void flawed_end(void)
{
}

/* ---- the exploration ---- */

static void drop(unsigned int t)
{
	held[t] = false; /* when the drop begins */
	accounting->drop(t);
}

static void take_and_drop(unsigned int t, unsigned int n)
{
	accounting->acquire(t, n);
	held[t] = true; /* when the take has returned */
	if (accounting->is_complete())
		explore_fault("the root is complete, and a guard is held");
	drop(t);
}

static void body(unsigned int t)
{
	switch (side->act[t]) {
	case TAKE_ON_LEAF:
		take_and_drop(t, LEAF);
		break;
	case TAKE_ON_OTHER:
		take_and_drop(t, OTHER);
		break;
	case DROP_EARLY:
		drop(t);
		break;
	case STOP:
		accounting->stop();
		break;
	}
}

static void body_0(void *arg)
{
	(void)arg;
	body(0);
}

static void body_1(void *arg)
{
	(void)arg;
	body(1);
}

static void body_2(void *arg)
{
	(void)arg;
	body(2);
}

static void begin(void *arg)
{
	(void)arg;
	accounting->begin();
	for (unsigned int t = 0; t < EXPLORE_MAX_THREADS; t++) {
		held[t] = side->act[t] == DROP_EARLY;
		if (held[t])
			accounting->acquire(t, LEAF);
	}
	if (side->stopped)
		accounting->stop();
}

static void look(void *arg)
{
	bool empty = accounting->is_empty();

	(void)arg;
	for (unsigned int t = 0; t < EXPLORE_MAX_THREADS; t++)
		if (held[t] && empty)
			explore_fault("a held guard is not counted");
}

static void end(void *arg)
{
	(void)arg;
	accounting->end();
}

static const struct accounting ours = {
	.name = "the library",
	.begin = ours_begin,
	.acquire = ours_take,
	.drop = ours_drop,
	.stop = ours_stop,
	.is_complete = ours_is_complete,
	.is_empty = ours_is_empty,
	.end = ours_end,
};

static const struct accounting wrong = {
	.name = "the flawed accounting",
	.begin = flawed_begin,
	.acquire = flawed_take_on,
	.drop = flawed_drop_of,
	.stop = flawed_stop_root,
	.is_complete = flawed_root_is_complete,
	.is_empty = flawed_root_is_empty,
	.end = flawed_end,
};

static const char *try(const struct accounting *which, const struct side *from,
		       unsigned int preemptions, bool after)
{
	struct exploration x = {
		.threads = EXPLORE_MAX_THREADS,
		.body = { body_0, body_1, body_2 },
		.begin = begin,
		.look = look,
		.end = end,
		.preemptions = preemptions,
		.after = after,
	};
	const char *fault;

	accounting = which;
	side = from;
	fault = explore(&x);
	printf("# %s, from the side of %s, torn %s: %lu runs: %s\n", which->name, from->name,
	       after ? "after" : "before", x.runs, fault ? fault : "nothing");
	return fault;
}

int main(void)
{
	const char *env = getenv("STRESS_PREEMPTIONS");
	unsigned int preemptions = env ? (unsigned int)atoi(env) : 2;
	unsigned int n = 0, failures = 0;

#ifdef __SANITIZE_THREAD__
	printf("1..0 # SKIP machine: the thread sanitizer does not follow contexts\n");
	return EXIT_SUCCESS;
#endif
	printf("1..%zu\n", 2 * ARRAY_SIZE(sides));
	for (size_t k = 0; k < ARRAY_SIZE(sides); k++) {
		bool found = try(&wrong, &sides[k], preemptions, false);
		bool clean = !try(&ours, &sides[k], preemptions, false) &&
			     !try(&ours, &sides[k], preemptions, true);

		printf("%s %u - the flawed accounting is found out, side of %s\n",
		       found ? "ok" : "not ok", ++n, sides[k].name);
		printf("%s %u - the library counts every held guard, side of %s\n",
		       clean ? "ok" : "not ok", ++n, sides[k].name);
		failures += !found + !clean;
	}
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
