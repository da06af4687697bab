/*
 * Every interleaving, up to a number of preemptions, of two or three threads that use three levels
 * of nodes, each by one of the programs below.  $STRESS_PREEMPTIONS raises the bound.  One program
 * is a fork, after which its thread goes on alone.
 *
 * After every step, for each guard that is held: no node from its own up to the root is without
 * guards, and if the tree is attached and its page is marked as exact, the page counts them all.  A
 * completion resolves only if its node has been without guards.  In the end every count is zero,
 * every completion has resolved and called its function once, and everything is freed, once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "explore.h"
#include "flawed.h"
#include "swansong/base/fork-private.h"
#include "swansong/count/count-private.h"
#include "swansong/count/node-private.h"
#include "tests/unit/fixtures/page-guards.h"
#include <swansong/swansong.h>

struct world;

/* The work of a thread, @t, and the world that it needs. */
struct program {
	void (*run)(struct world *w, unsigned int t);
	const char *name;
	bool drops_handles; /* by itself */
	bool early;	    /* begins with a guard on the leaf */
	bool unobserved;    /* only in an unobserved world */
	bool forks;	    /* to be tried with a program that does not fork */
	bool steady;	    /* takes and drops no guard */
};

enum { ROOT, MID, LEAF, LEVELS };

#define LANES 3 /* a processor for each of two threads, and one for the test */

/* The observations of the function of a thread's own completion; outlives the completion. */
struct watch {
	struct world *world;
	unsigned int calls;
	bool running;
	bool over; /* the completion is dropped */
};

/* How the middle and the leaf count guards while they run.  Attached: only the leaf is percpu. */
enum counting { PLAIN, PERCPU_RSEQ, PERCPU_LOCKED, ATTACHED_RSEQ, ATTACHED_LOCKED, N_COUNTINGS };

static enum counting counting;

static bool is_attached(void)
{
	return counting == ATTACHED_RSEQ || counting == ATTACHED_LOCKED;
}

/* The attachment of an attached tree; its memory goes with the tree. */
struct outside {
	struct attachment attachment;
	struct page *page; /* NULL after the end */
	bool abandoned;
};

struct world {
	/* Only the threads hold the nodes; otherwise the world does, too, and looks at them. */
	bool unobserved;
	bool signalled; /* a handler stops the middle */

	struct swansong *node[LEVELS];
	struct swansong_completion *completion[LEVELS];
	bool has_been_empty[LEVELS];
	unsigned int calls[LEVELS];

	const struct program *program[EXPLORE_MAX_THREADS];
	unsigned int threads;
	struct swansong_guard held[EXPLORE_MAX_THREADS][2]; /* by thread */
	struct swansong *kept[EXPLORE_MAX_THREADS];	    /* children, for the end */
	struct watch watch[EXPLORE_MAX_THREADS];
	struct swansong_interrupt *interrupt;
	struct outside outside;
	bool forked;
};

static void drop_handles(struct world *w, unsigned int t)
{
	/* Odd threads drop from below, the others from above. */
	for (unsigned int i = 0; w->unobserved && i < LEVELS; i++)
		(void)swansong_unref(w->node[t % 2 ? i : LEVELS - 1 - i]);
}

static void hold(struct world *w, unsigned int t, struct swansong *s)
{
	/* The guard counts only after guard() has returned. */
	struct swansong_guard g = swansong_guard(s);

	w->held[t][0] = g;
}

static void let_go(struct world *w, unsigned int t, unsigned int i)
{
	/* The guard does not count once drop() has begun. */
	struct swansong_guard g = w->held[t][i];

	w->held[t][i] = (struct swansong_guard){ 0 };
	swansong_guard_drop(&g);
}

/* ---- the programs ---- */

static void take_and_drop(struct world *w, unsigned int t)
{
	hold(w, t, w->node[LEAF]);
	let_go(w, t, 0);
}

static void take_clone_drop(struct world *w, unsigned int t)
{
	struct swansong_guard g;

	hold(w, t, w->node[MID]);
	g = swansong_guard_clone(&w->held[t][0]);
	w->held[t][1] = g;
	let_go(w, t, 0);
	let_go(w, t, 1);
}

/* The guard was taken before anything else. */
static void drop_early(struct world *w, unsigned int t)
{
	drop_handles(w, t);
	let_go(w, t, 0);
}

static void stop_root(struct world *w, unsigned int t)
{
	(void)t;
	swansong_shut_down(w->node[ROOT]);
}

static void stop_mid(struct world *w, unsigned int t)
{
	(void)t;
	swansong_shut_down(w->node[MID]);
}

static void stop_leaf(struct world *w, unsigned int t)
{
	(void)t;
	swansong_shut_down(w->node[LEAF]);
}

static void child_with_guard(struct world *w, unsigned int t)
{
	struct swansong *s;

	if (swansong_child(w->node[MID], &s) < 0)
		return;
	hold(w, t, s);
	swansong_unref(s);
	let_go(w, t, 0);
}

static void child_with_own_guard(struct world *w)
{
	struct swansong_guard g;
	struct swansong *s;

	if (swansong_child(w->node[MID], &s) < 0)
		return;
	g = swansong_guard(s);
	swansong_unref(s);
	swansong_guard_drop(&g);
}

static void child_only(struct world *w, unsigned int t)
{
	struct swansong *s;

	if (swansong_child(w->node[LEAF], &s) < 0)
		return;
	if (w->unobserved)
		swansong_unref(s);
	else
		w->kept[t] = s;
}

static void count_call(void *arg)
{
	(*(unsigned int *)arg)++;
}

/* Uses the library, so that it can be torn; the caller of unref() keeps the nodes meanwhile. */
static void watched(void *arg)
{
	struct watch *watch = arg;

	if (watch->over)
		explore_fault("a function is called after its completion is dropped");
	if (watch->calls++)
		explore_fault("a function is called twice");
	watch->running = true;
	(void)swansong_state(watch->world->node[ROOT]);
	watch->running = false;
}

static void watch_and_ask(struct world *w, unsigned int t, bool ask_first)
{
	struct watch *watch = &w->watch[t];
	struct swansong_completion *c;
	bool done;

	*watch = (struct watch){ .world = w };
	if (swansong_completion_new(w->node[MID], &c) < 0)
		return;
	done = ask_first && swansong_completion_done(c);
	(void)swansong_completion_notify(c, watched, watch);
	if (done && !watch->calls)
		explore_fault("the function of a resolved completion is not called");
	done |= swansong_completion_done(c);
	if (done && !swansong_completion_done(c))
		explore_fault("a completion is not resolved any more");
	swansong_completion_unref(c);
	watch->over = true;
	if (watch->running)
		explore_fault("a function runs when its completion is dropped");
}

static void watch(struct world *w, unsigned int t)
{
	watch_and_ask(w, t, false);
}

static void watch_late(struct world *w, unsigned int t)
{
	watch_and_ask(w, t, true);
}

static void watch_stop(struct world *w, unsigned int t)
{
	struct watch *watch = &w->watch[t];
	struct swansong_interrupt *i;

	*watch = (struct watch){ .world = w };
	if (swansong_interrupt_new(w->node[LEAF], &i) < 0)
		return;
	(void)swansong_interrupt_notify(i, watched, watch);
	if (watch->calls > 0 && !swansong_interrupted(i))
		explore_fault("a function of an interrupt is called too early");
	swansong_interrupt_unref(i);
	watch->over = true;
	if (watch->running)
		explore_fault("a function runs when its interrupt is dropped");
}

/* Sleeps until all other threads have dropped the things that keep the leaf running. */
static void sleep_on_leaf(struct world *w, unsigned int t)
{
	drop_handles(w, t);
	(void)swansong_interrupt_wait(w->interrupt, UINT64_MAX);
	if (!swansong_interrupted(w->interrupt))
		explore_fault("woken, and not interrupted");
}

/* From then on guards are recorded; earlier guards are not. */
static void record(struct world *w, unsigned int t)
{
	(void)t;
	if (swansong_report_enable(w->node[MID]) < 0)
		abort();
	take_and_drop(w, t);
}

/* From then on guards are counted by processors; earlier guards are not. */
static void spread(struct world *w, unsigned int t)
{
	if (swansong_percpu_enable(w->node[LEAF]) < 0)
		abort();
	take_and_drop(w, t);
}

/* A thread goes on alone in the new process, and the guards of others stay there. */
static void fork_child_goes_on(struct world *w, unsigned int t)
{
	bool idle;

	hold(w, t, w->node[LEAF]);
	fork_prepare();
	idle = explore_alone();
	w->forked = true;
	fork_child();

	child_with_own_guard(w);
	let_go(w, t, 0);
	swansong_shut_down(w->node[ROOT]);
	for (unsigned int i = 0; i < w->threads; i++)
		idle &= !w->held[i][0].node && !w->held[i][1].node;
	if (idle && swansong_state(w->node[ROOT]) != SWANSONG_COMPLETE)
		explore_fault("a guard is left over in the new process");
	if (idle && swansong_wait(w->node[LEAF], 0) < 0)
		explore_fault("a wait for nothing in the new process");
}

/* The same program in the process that forks. */
static void fork_parent_goes_on(struct world *w, unsigned int t)
{
	fork_prepare();
	fork_parent();
	take_and_drop(w, t);
}

/* The number is exact beside threads that take and drop no guard. */
static void count_guards_of_root(struct world *w, unsigned int t)
{
	bool steady = true;

	hold(w, t, w->node[LEAF]);
	w->held[t][1] = swansong_guard(w->node[MID]);
	for (unsigned int i = 0; i < w->threads; i++)
		steady &= i == t || w->program[i]->steady;
	if (swansong_guard_count(w->node[ROOT]) != 2 && steady)
		explore_fault("guards are counted wrongly");
	let_go(w, t, 0);
	let_go(w, t, 1);
}

static void wait_for_mid(struct world *w, unsigned int t)
{
	swansong_shut_down(w->node[MID]);
	if (swansong_wait(w->node[MID], UINT64_MAX) < 0)
		explore_fault("a wait without deadline ends by itself");
	(void)t;
}

enum { TAKE_AND_DROP, WATCH }; /* the first entries of: */

static const struct program programs[] = {
	{ .run = take_and_drop, .name = "take and drop" },
	{ .run = watch, .name = "completion, notify, unref", .steady = true },
	{ .run = take_clone_drop, .name = "take, clone and drop both" },
	{ .run = drop_early,
	  .name = "drop a guard taken before",
	  .drops_handles = true,
	  .early = true },
	{ .run = stop_root, .name = "stop the root", .steady = true },
	{ .run = stop_mid, .name = "stop the middle", .steady = true },
	{ .run = stop_leaf, .name = "stop the leaf", .steady = true },
	{ .run = child_with_guard, .name = "child, take, unref, drop" },
	{ .run = child_only, .name = "child", .steady = true },
	{ .run = record, .name = "switch the report on, take and drop" },
	{ .run = spread, .name = "count by processors, take and drop" },
	{ .run = watch_late, .name = "completion, done, notify, unref", .steady = true },
	{ .run = watch_stop, .name = "interrupt, notify, unref", .steady = true },
	{ .run = count_guards_of_root, .name = "take, count, drop" },
	{ .run = wait_for_mid, .name = "stop the middle and wait" },
	{ .run = fork_child_goes_on, .name = "fork, the child", .forks = true },
	{ .run = fork_parent_goes_on, .name = "fork, the parent", .forks = true },
	{ .run = sleep_on_leaf,
	  .name = "sleep until the stop",
	  .drops_handles = true,
	  .unobserved = true },
};

/* ---- the world ---- */

static void body(struct world *w, unsigned int t)
{
	w->program[t]->run(w, t);
	if (!w->program[t]->drops_handles)
		drop_handles(w, t);
}

/* The handler has a handle of its own, as long as there is a thread to be interrupted. */
static void stop_in_handler(void *arg)
{
	struct world *w = arg;

	swansong_shut_down(w->node[MID]);
	if (swansong_state(w->node[MID]) == SWANSONG_RUNNING)
		explore_fault("a node runs that a signal handler has stopped");
}

static void body_0(void *arg)
{
	body(arg, 0);
}

static void body_1(void *arg)
{
	body(arg, 1);
}

static void body_2(void *arg)
{
	body(arg, 2);
}

static void on_abandoned(struct attachment *attachment)
{
	struct outside *o = container_of(attachment, struct outside, attachment);

	if (o->abandoned)
		explore_fault("a root is dropped twice");
	o->abandoned = true;
}

static void on_ended(struct attachment *attachment)
{
	struct outside *o = container_of(attachment, struct outside, attachment);

	if (!o->abandoned || !o->page)
		explore_fault("a tree ends twice, or with its root in use");
	if (page_guards(o->page, LANES) != 0)
		explore_fault("guards are left over in the page");
	explore_free(take(o->page));
	explore_free(o->attachment.tally);
}

static int new_root(struct world *w)
{
	const size_t size = PAGE_HEADER + LANES * PAGE_LANE;
	struct outside *o = &w->outside;
	struct tally *tally;

	if (!is_attached())
		return swansong_new(&w->node[ROOT]);
	tally = explore_aligned_alloc(_Alignof(struct tally), sizeof(*tally));
	*o = (struct outside){
		.attachment = { tally, on_abandoned, on_ended },
		.page = explore_aligned_alloc(PAGE_LANE, size),
	};
	memset(o->page, 0, size);
	tally_init(tally, o->page, LANES);
	return node_new_root(&o->attachment, &w->node[ROOT]);
}

static void begin(void *arg)
{
	struct world *w = arg;
	int r = 0;

	w->forked = false;
	memset(w->held, 0, sizeof(w->held));
	memset(w->kept, 0, sizeof(w->kept));
	fork_forget();
	r |= new_root(w);
	r |= swansong_child(w->node[ROOT], &w->node[MID]);
	r |= swansong_child(w->node[MID], &w->node[LEAF]);
	r |= swansong_interrupt_new(w->node[LEAF], &w->interrupt);
	for (unsigned int i = is_attached() ? LEAF : MID; i < LEVELS && counting != PLAIN; i++)
		r |= swansong_percpu_enable(w->node[i]);
	for (unsigned int i = 0; i < LEVELS && !w->unobserved; i++) {
		w->calls[i] = 0;
		w->has_been_empty[i] = false;
		r |= swansong_completion_new(w->node[i], &w->completion[i]);
		r |= swansong_completion_notify(w->completion[i], count_call, &w->calls[i]);
	}
	for (unsigned int t = 0; t < w->threads; t++) {
		if (w->program[t]->early)
			hold(w, t, w->node[LEAF]);
		for (unsigned int i = 0; i < LEVELS && w->unobserved && t > 0; i++)
			(void)swansong_ref(w->node[i]);
	}
	if (w->signalled)
		(void)swansong_ref(w->node[MID]);
	if (r != 0)
		abort();
}

/* These functions look without being a step. */
static bool is_empty(const struct swansong *n)
{
	return !(atomic_load_explicit(&n->total, memory_order_relaxed) & COUNT_GUARDS);
}

static void look_at_page(const struct world *w)
{
	const struct page *page = w->outside.page;
	int64_t held = 0;

	for (unsigned int t = 0; t < w->threads; t++)
		for (unsigned int i = 0; i < 2; i++)
			held += w->held[t][i].node != NULL;
	if (page && page->gathered && page_guards(page, LANES) < held)
		explore_fault("a held guard is not in the page");
	if (!page && held > 0)
		explore_fault("a tree ends with a guard");
}

static void look(void *arg)
{
	struct world *w = arg;

	if (is_attached())
		look_at_page(w);
	for (unsigned int t = 0; t < w->threads; t++)
		for (unsigned int i = 0; i < 2; i++)
			for (const struct swansong *n = w->held[t][i].node; n; n = n->parent)
				if (is_empty(n))
					explore_fault("a held guard is not counted");
	for (unsigned int i = 0; i < LEVELS && !w->unobserved; i++) {
		w->has_been_empty[i] |= is_empty(w->node[i]);
		if (w->calls[i] && !w->has_been_empty[i])
			explore_fault("a completion is resolved too early");
		if (w->calls[i] > 1)
			explore_fault("a function is called twice");
	}
}

/* A child that came while its parent was stopped must be stopped, too. */
static void end_kept(struct world *w)
{
	for (unsigned int t = 0; t < w->threads; t++) {
		if (w->kept[t] && swansong_state(w->node[LEAF]) != swansong_state(w->kept[t]))
			explore_fault("a child runs below a stopped node");
		w->kept[t] = swansong_unref(w->kept[t]);
	}
}

static void end(void *arg)
{
	struct world *w = arg;

	if (w->forked)
		return;
	if (w->signalled)
		(void)swansong_unref(w->node[MID]);
	end_kept(w);
	if (!w->unobserved)
		swansong_shut_down(w->node[ROOT]);
	for (unsigned int i = 0; i < LEVELS && !w->unobserved; i++) {
		if (swansong_state(w->node[i]) != SWANSONG_COMPLETE)
			explore_fault("a node does not become complete");
		if (!swansong_completion_done(w->completion[i]) || w->calls[i] != 1)
			explore_fault("a completion does not resolve");
		if (swansong_guard_count(w->node[i]) != 0)
			explore_fault("guards are left over");
	}
	for (unsigned int i = 0; i < LEVELS && !w->unobserved; i++) {
		(void)swansong_completion_unref(w->completion[i]);
		(void)swansong_unref(w->node[i]);
	}
	if (is_attached() && w->outside.page)
		explore_fault("a tree does not end");
	if (!swansong_interrupted(w->interrupt))
		explore_fault("an interrupt outlives its node and does not see that");
	(void)swansong_interrupt_unref(w->interrupt);
}

/* ---- the tests ---- */

static const char *const counting_names[N_COUNTINGS] = {
	[PLAIN] = "plain",
	[PERCPU_RSEQ] = "by processors, rseq",
	[PERCPU_LOCKED] = "by processors, locked",
	[ATTACHED_RSEQ] = "attached, rseq",
	[ATTACHED_LOCKED] = "attached, locked",
};

static unsigned int test_number;
static unsigned int failures;
static unsigned long all_runs;

static void report(const char *fault, const char *name)
{
	printf("%s %u - %s\n", fault ? "not ok" : "ok", ++test_number, name);
	if (fault) {
		printf("# %s\n", fault);
		failures++;
	}
	fflush(stdout);
}

static void try(unsigned int preemptions, bool after, bool unobserved, bool signalled,
		unsigned int threads, const unsigned int which[])
{
	struct world w = { .unobserved = unobserved, .signalled = signalled, .threads = threads };
	struct exploration x = {
		.threads = threads,
		.body = { body_0, body_1, body_2 },
		.arg = &w,
		.begin = begin,
		.look = look,
		.end = end,
		.handler = signalled ? stop_in_handler : NULL,
		.preemptions = preemptions,
		.after = after,
		.rseq = counting == PERCPU_RSEQ || counting == ATTACHED_RSEQ,
	};
	char name[300];
	int n = 0;
	const char *fault;

	for (unsigned int t = 0; t < threads; t++) {
		w.program[t] = &programs[which[t]];
		n += snprintf(name + n, sizeof(name) - (size_t)n, "%s%s", t ? " | " : "",
			      programs[which[t]].name);
	}
	fault = explore(&x);
	all_runs += x.runs;
	(void)snprintf(name + n, sizeof(name) - (size_t)n, "%s (%s, %s, torn %s, %lu runs)",
		       signalled ? " | a signal handler stops the middle" : "",
		       counting_names[counting], unobserved ? "unobserved" : "observed",
		       after ? "after" : "before", x.runs);
	report(fault, name);
}

static bool fits(const struct program *p, bool unobserved)
{
	return unobserved || !p->unobserved;
}

/* A fork runs beside each other program, and not in triples, which would find nothing more. */
static bool go_together(const struct program *a, const struct program *b)
{
	return !a->forks || !b->forks;
}

static void try_pairs(unsigned int preemptions, bool after)
{
	for (unsigned int unobserved = 0; unobserved < 2; unobserved++)
		for (unsigned int a = 0; a < ARRAY_SIZE(programs); a++)
			for (unsigned int b = a; b < ARRAY_SIZE(programs); b++)
				if (fits(&programs[a], unobserved) &&
				    fits(&programs[b], unobserved) &&
				    go_together(&programs[a], &programs[b]))
					try(preemptions, after, unobserved, false, 2,
					    (unsigned int[]){ a, b });
}

/*
 * A thread, and two threads, that are interrupted at any step; a fork blocks signals.  Memory that
 * a handler might free needs one thread more, which drops it at that moment.
 */
static void try_signals(unsigned int preemptions, bool after)
{
	for (unsigned int unobserved = 0; unobserved < 2; unobserved++)
		for (unsigned int a = 0; a < ARRAY_SIZE(programs); a++) {
			if (!fits(&programs[a], unobserved) || programs[a].forks)
				continue;
			if (!programs[a].unobserved)
				try(preemptions, after, unobserved, true, 1, (unsigned int[]){ a });
			for (unsigned int b = a; b < ARRAY_SIZE(programs); b++)
				if (fits(&programs[b], unobserved) && !programs[b].forks)
					try(preemptions - 1, after, unobserved, true, 2,
					    (unsigned int[]){ a, b });
		}
	try(preemptions, after, false, true, 2, (unsigned int[]){ TAKE_AND_DROP, WATCH });
}

static void try_triples(unsigned int preemptions)
{
	for (unsigned int unobserved = 0; unobserved < 2; unobserved++)
		for (unsigned int a = 0; a < ARRAY_SIZE(programs); a++)
			for (unsigned int b = a; b < ARRAY_SIZE(programs); b++)
				for (unsigned int c = b; c < ARRAY_SIZE(programs); c++)
					if (fits(&programs[a], unobserved) &&
					    fits(&programs[b], unobserved) &&
					    fits(&programs[c], unobserved) && !programs[a].forks &&
					    !programs[b].forks && !programs[c].forks)
						try(preemptions, false, unobserved, false, 3,
						    (unsigned int[]){ a, b, c });
}

/* ---- the fault of the flawed accounting must be found ---- */

static struct flawed flawed_root, flawed_leaf;
static unsigned int flawed_held;

static void flawed_body(void *arg)
{
	(void)arg;
	flawed_take(&flawed_leaf);
	flawed_held++;
	(void)flawed_is_complete(&flawed_root); /* some steps meanwhile */
	flawed_held--;
	flawed_drop(&flawed_leaf);
}

static void flawed_begin(void *arg)
{
	(void)arg;
	flawed_root = (struct flawed){ 0 };
	flawed_leaf = (struct flawed){ .parent = &flawed_root };
	flawed_held = 0;
}

static void flawed_look(void *arg)
{
	(void)arg;
	if (flawed_held > 0 && flawed_root.count == 0)
		explore_fault("a held guard is not counted");
}

static void flawed_end(void *arg)
{
	(void)arg;
}

static void try_flawed(void)
{
	struct exploration x = {
		.threads = 2,
		.body = { flawed_body, flawed_body },
		.begin = flawed_begin,
		.look = flawed_look,
		.end = flawed_end,
		.preemptions = 1,
	};

	report(explore(&x) ? NULL : "no fault was found", "flawed accounting is found out");
}

int main(void)
{
	const char *env = getenv("STRESS_PREEMPTIONS");
	unsigned int preemptions = env ? (unsigned int)atoi(env) : 2;

#ifdef __SANITIZE_THREAD__
	printf("1..0 # SKIP machine: the thread sanitizer does not follow contexts\n");
	return EXIT_SUCCESS;
#endif
	try_flawed();
	for (counting = PLAIN; counting < N_COUNTINGS; counting++) {
		bool all = !is_attached() || preemptions > 2; /* it takes long */

		if (all || counting == ATTACHED_RSEQ)
			try_pairs(preemptions, false);
		if (all || counting == ATTACHED_LOCKED)
			try_pairs(preemptions, true);
		if (counting == PLAIN || counting == PERCPU_RSEQ || preemptions > 2) {
			try_signals(preemptions, counting != PLAIN);
			if (preemptions > 2)
				try_signals(preemptions, counting == PLAIN);
		}
		if (counting == PLAIN || preemptions > 2)
			try_triples(preemptions - 1);
	}
	printf("1..%u\n# %lu runs\n", test_number, all_runs);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
