/*
 * Rounds of 2 to 8 threads that do everything at random to one small tree: take, clone and drop
 * guards, create and drop children, stop, watch, interrupt, ask for reports, and drop their
 * references at any time.
 *
 * Each thread checks what it must see while it holds a guard.  The main thread waits for the end of
 * the root as any program would, and reads the data written under guards without any other order.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "stress.h"
#include <swansong/swansong.h>

#define MAX_THREADS 8
#define NODES	    5 /* the root, two below it, one below each of these */
#define SLOTS	    4
#define PER_ROUND   60

enum fault {
	PREMATURE_STATE,
	PREMATURE_COMPLETION,
	UNRESOLVED,
	RUNS_BELOW_STOPPED,
	STOP_NOT_SEEN,
	WORK_NOT_SEEN,
	MISSED,
	CALLS,
	FORGOTTEN,
	N_FAULTS
};

static const char *const fault_names[N_FAULTS] = {
	[PREMATURE_STATE] = "no node is complete while a guard of its subtree is held",
	[PREMATURE_COMPLETION] = "no completion resolves under a guard taken before it",
	[UNRESOLVED] = "a completion that has resolved stays resolved",
	[RUNS_BELOW_STOPPED] = "no child is born running below a stopped node",
	[STOP_NOT_SEEN] = "a stop is seen by every interrupt below when it returns",
	[WORK_NOT_SEEN] = "work under guards is seen after completion",
	[MISSED] = "every node completes",
	[CALLS] = "every function is called once",
	[FORGOTTEN] = "a thread that holds a guard finds one in the report",
};

static _Atomic unsigned long faults[N_FAULTS];

static void check(bool ok, enum fault fault)
{
	if (!ok)
		faults[fault]++;
}

struct worker {
	_Alignas(64) pthread_t thread;
	unsigned int number;
	uint32_t random;
	struct swansong *node[NODES];
	struct swansong_guard first; /* taken before the round; all work is done under it */
	unsigned long work;	     /* plain */

	struct swansong_guard guard[SLOTS];
	struct swansong *child[SLOTS];
};

static struct {
	unsigned int threads;
	struct worker worker[MAX_THREADS];
	pthread_barrier_t barrier;
	bool quit;
} stress;

static unsigned int pick(struct worker *w, unsigned int n)
{
	return stress_random(&w->random) % n;
}

static void check_guard(struct worker *w, const struct swansong_guard *g)
{
	check(swansong_state(w->node[0]) != SWANSONG_COMPLETE, PREMATURE_STATE);
	check(swansong_state(g->node) != SWANSONG_COMPLETE, PREMATURE_STATE);
}

static void do_guard(struct worker *w, unsigned int slot)
{
	struct swansong_guard *g = &w->guard[slot];

	if (g->node) {
		check_guard(w, g);
		swansong_guard_drop(g);
		return;
	}
	if (w->first.node && pick(w, 4) == 0)
		*g = swansong_guard_clone(&w->first);
	else
		*g = swansong_guard(w->node[pick(w, NODES)]);
	check_guard(w, g);
}

static void do_child(struct worker *w, unsigned int slot)
{
	struct swansong *parent = w->node[pick(w, NODES)];
	bool stopped;

	if (w->child[slot]) {
		w->child[slot] = swansong_unref(w->child[slot]);
		return;
	}
	stopped = swansong_stopped_wait(parent, 0) == 0;
	if (swansong_child(parent, &w->child[slot]) < 0)
		abort();
	if (stopped)
		check(swansong_state(w->child[slot]) != SWANSONG_RUNNING, RUNS_BELOW_STOPPED);
	if (!w->guard[slot].node)
		w->guard[slot] = swansong_guard(w->child[slot]);
	if (pick(w, 2))
		w->child[slot] = swansong_unref(w->child[slot]);
}

static void do_stop(struct worker *w)
{
	unsigned int n = pick(w, NODES);
	unsigned int below = n == 0 ? 4 : n <= 2 ? n + 2 : n;
	struct swansong_interrupt *i;

	if (swansong_interrupt_new(w->node[below], &i) < 0)
		abort();
	swansong_shut_down(w->node[n]);
	check(swansong_interrupted(i), STOP_NOT_SEEN);
	check(swansong_interrupt_wait(i, UINT64_MAX) == 0, STOP_NOT_SEEN);
	swansong_interrupt_unref(i);
}

static void count_call(void *arg)
{
	atomic_fetch_add((_Atomic unsigned int *)arg, 1);
}

static void do_watch(struct worker *w)
{
	struct swansong *s = w->node[pick(w, NODES)];
	struct swansong_guard g = swansong_guard(s);
	struct swansong_completion *c;
	_Atomic unsigned int calls = 0;
	bool done;

	if (swansong_completion_new(s, &c) < 0)
		abort();
	(void)swansong_completion_notify(c, count_call, &calls);
	check(!swansong_completion_done(c) && calls == 0, PREMATURE_COMPLETION);
	swansong_guard_drop(&g);
	done = swansong_completion_done(c);
	check(!done || swansong_completion_done(c), UNRESOLVED);
	swansong_completion_unref(c);
	check(calls <= 1, CALLS);
}

/* A nameless child that goes away while a thread may be stopping it, and its interrupt. */
static void do_vanish(struct worker *w)
{
	struct swansong_interrupt *i;
	struct swansong_guard g;
	struct swansong *s;

	if (swansong_child(w->node[pick(w, NODES)], &s) < 0 || swansong_interrupt_new(s, &i) < 0)
		abort();
	g = swansong_guard(s);
	swansong_unref(s);
	swansong_guard_drop(&g);
	check(swansong_interrupt_wait(i, UINT64_MAX) == 0, STOP_NOT_SEEN);
	swansong_interrupt_unref(i);
}

static void do_report(struct worker *w)
{
	struct swansong *s = w->node[pick(w, NODES)];
	struct swansong_report *report;
	struct swansong_guard g;

	if (pick(w, 4) == 0 && swansong_report_enable(s) < 0)
		abort();
	g = swansong_guard(s);
	if (swansong_report(s, &report) < 0)
		abort();
	check(report->guards > 0 && (!g.record || report->n > 0), FORGOTTEN);
	swansong_report_free(report);
	swansong_guard_drop(&g);
}

static void do_anything(struct worker *w)
{
	switch (pick(w, 16)) {
	case 0:
		do_watch(w);
		break;
	case 1:
	case 2:
	case 3:
		do_child(w, pick(w, SLOTS));
		break;
	case 4:
		do_vanish(w);
		break;
	case 5:
		(void)swansong_guard_count(w->node[pick(w, NODES)]);
		do_report(w);
		break;
	case 6:
		if (pick(w, 8) == 0)
			do_stop(w);
		break;
	default:
		do_guard(w, pick(w, SLOTS));
		break;
	}
}

static void worker_round(struct worker *w)
{
	unsigned int until = pick(w, PER_ROUND);

	for (unsigned int i = 0; i < PER_ROUND; i++) {
		if (i < until)
			w->work++;
		if (i == until)
			swansong_guard_drop(&w->first);
		do_anything(w);
	}
	for (unsigned int i = 0; i < SLOTS; i++) {
		swansong_guard_drop(&w->guard[i]);
		w->child[i] = swansong_unref(w->child[i]);
	}
	for (unsigned int i = 0; i < NODES; i++) {
		unsigned int n = (i + w->number) % NODES;

		w->node[n] = swansong_unref(w->node[n]);
	}
}

static void *worker_main(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&stress.barrier);
		if (stress.quit)
			return NULL;
		worker_round(arg);
		pthread_barrier_wait(&stress.barrier);
	}
}

/* ---- the main thread ---- */

static void make_tree(struct swansong *node[])
{
	if (swansong_new(&node[0]) < 0)
		abort();
	for (unsigned int i = 1; i < NODES; i++)
		if (swansong_child(node[i <= 2 ? 0 : i - 2], &node[i]) < 0)
			abort();
}

static void check_work(void)
{
	for (unsigned int i = 0; i < stress.threads; i++) {
		struct worker *w = &stress.worker[i];

		check(w->work > 0, WORK_NOT_SEEN);
		w->work = 0; /* ThreadSanitizer reports a race if it is not ordered */
	}
}

static void one_round(uint32_t *random)
{
	struct swansong_completion *c[NODES];
	_Atomic unsigned int calls[NODES] = { 0 };
	struct swansong *node[NODES];

	make_tree(node);
	for (unsigned int i = 0; i < NODES; i++)
		if (swansong_completion_new(node[i], &c[i]) < 0 ||
		    swansong_completion_notify(c[i], count_call, &calls[i]) < 0)
			abort();
	for (unsigned int t = 0; t < stress.threads; t++) {
		struct worker *w = &stress.worker[t];

		w->first = swansong_guard(node[t % NODES]);
		w->work = 1;
		for (unsigned int i = 0; i < NODES; i++)
			w->node[i] = swansong_ref(node[i]);
	}
	pthread_barrier_wait(&stress.barrier);
	if (stress_random(random) % 2)
		swansong_shut_down(node[0]);
	for (unsigned int i = 0; i < NODES; i++)
		node[i] = swansong_unref(node[i]);
	/* Stopped here, by a worker, or by the last reference. */
	if (stress_random(random) % 2) {
		check(swansong_completion_wait(c[0], UINT64_MAX) == 0, MISSED);
		check_work();
	}
	pthread_barrier_wait(&stress.barrier);
	for (unsigned int i = 0; i < NODES; i++) {
		check(swansong_completion_done(c[i]), MISSED);
		check(calls[i] == 1, CALLS);
		swansong_completion_unref(c[i]);
	}
}

static unsigned long run(unsigned int threads, uint64_t end_usec, uint32_t *random)
{
	unsigned long rounds = 0;

	stress.threads = threads;
	stress.quit = false;
	(void)pthread_barrier_init(&stress.barrier, NULL, threads + 1);
	for (unsigned int i = 0; i < threads; i++) {
		struct worker *w = &stress.worker[i];

		*w = (struct worker){ .number = i, .random = stress_random(random) };
		(void)pthread_create(&w->thread, NULL, worker_main, w);
	}
	for (; clock_now_usec() < end_usec; rounds++)
		one_round(random);
	stress.quit = true;
	pthread_barrier_wait(&stress.barrier);
	for (unsigned int i = 0; i < threads; i++)
		(void)pthread_join(stress.worker[i].thread, NULL);
	(void)pthread_barrier_destroy(&stress.barrier);
	return rounds;
}

int main(void)
{
	static const unsigned int threads[] = { 2, 3, 4, 8 };
	uint64_t start = clock_now_usec();
	uint64_t share = (stress_end_usec() - start) / 4;
	uint32_t random = 1;

	printf("1..%d\n", N_FAULTS);
	for (unsigned int i = 0; i < 4; i++)
		printf("# %u threads: %lu rounds\n", threads[i],
		       run(threads[i], clock_now_usec() + share, &random));
	return stress_report(fault_names, faults, N_FAULTS);
}
