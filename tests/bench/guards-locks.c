/* The waits for the lock of a tree, while another thread walks through all of it. */
#include "guards.h"

#include <err.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNTED	 300000
#define STOPPED	 1000000
#define DROPS	 300
#define CHILDREN 100000 /* at most, beside one stop */
#define ENDS	 100000

struct walker {
	struct swansong *top;
	struct swansong_guard guard;
	_Atomic bool begun, over;
	uint64_t nsec; /* of one stop */
};

static void *count_thread(void *arg)
{
	struct walker *w = arg;

	while (!atomic_load(&w->over)) {
		atomic_store(&w->begun, true);
		if (swansong_guard_count(w->top) > DROPS)
			errx(EXIT_FAILURE, "guards are counted wrongly");
	}
	return NULL;
}

static void *drop_thread(void *arg)
{
	struct walker *w = arg;
	uint64_t begun = now_nsec();

	atomic_store(&w->begun, true);
	swansong_guard_drop(&w->guard);
	w->nsec = now_nsec() - begun;
	atomic_store(&w->over, true);
	return NULL;
}

static void *stop_thread(void *arg)
{
	struct walker *w = arg;
	uint64_t begun = now_nsec();

	atomic_store(&w->begun, true);
	swansong_shut_down(w->top);
	w->nsec = now_nsec() - begun;
	atomic_store(&w->over, true);
	return NULL;
}

/* Until the other thread has the lock again, which slept meanwhile. */
static void let_walk(void)
{
	uint64_t begun = now_nsec();

	while (now_nsec() - begun < 100000)
		;
}

/* The drops of guards that alone keep their nodes, each in microseconds. */
static void drop_all(struct swansong_guard *guards, double *usec)
{
	for (size_t i = 0; i < DROPS; i++) {
		uint64_t begun;

		let_walk();
		begun = now_nsec();
		swansong_guard_drop(&guards[i]);
		usec[i] = (double)(now_nsec() - begun) / 1e3;
	}
}

static void guard_children(struct swansong *root, struct swansong_guard *guards)
{
	for (size_t i = 0; i < DROPS; i++) {
		struct swansong *child = new_child(root);

		guards[i] = swansong_guard(child);
		(void)swansong_unref(child);
	}
}

static double child_once(struct swansong *parent)
{
	struct swansong *child;
	uint64_t begun;
	double usec;

	let_walk();
	begun = now_nsec();
	child = new_child(parent);
	usec = (double)(now_nsec() - begun) / 1e3;
	(void)swansong_unref(child);
	return usec;
}

static void add_waits(struct report *report, const char *name, double *usec, double *alone,
		      size_t n)
{
	char text[80];

	(void)snprintf(text, sizeof(text), "%s; floor: alone", name);
	report_add(report, (struct figure){ text, "us", percentile(usec, n, 0.5),
					    percentile(alone, n, 0.5), TARGET_MEASURED, 100 });
	(void)snprintf(text, sizeof(text), "the same, 99 %%");
	report_add(report, (struct figure){ text, "us", percentile(usec, n, 0.99),
					    percentile(alone, n, 0.99), TARGET_NONE, 0 });
	(void)snprintf(text, sizeof(text), "the same, worst");
	report_add(report, (struct figure){ text, "us", percentile(usec, n, 1),
					    percentile(alone, n, 1), TARGET_NONE, 0 });
}

static void report_drops(struct report *report)
{
	struct swansong *root = new_root();
	struct swansong **crowd = calloc(COUNTED, sizeof(struct swansong *));
	struct walker walker = { .top = root };
	struct swansong_guard guards[DROPS];
	double usec[DROPS], alone[DROPS];
	pthread_t thread;

	if (!crowd)
		errx(EXIT_FAILURE, "out of memory");
	for (size_t i = 0; i < COUNTED; i++)
		crowd[i] = new_child(root);
	guard_children(root, guards);
	drop_all(guards, alone);
	guard_children(root, guards);
	thread = start_thread(count_thread, &walker);
	while (!atomic_load(&walker.begun))
		;
	drop_all(guards, usec);
	atomic_store(&walker.over, true);
	(void)pthread_join(thread, NULL);
	add_waits(report, "drop beside guard_count", usec, alone, DROPS);
	for (size_t i = 0; i < COUNTED; i++)
		(void)swansong_unref(crowd[i]);
	(void)swansong_unref(root);
	free(crowd);
}

/* Children of @busy for as long as @run has not ended. */
static void report_children_beside(struct report *report, struct walker *walker,
				   void *(*run)(void *), struct swansong *busy, const char *name)
{
	double *usec = calloc(CHILDREN, sizeof(*usec)), *alone = calloc(CHILDREN, sizeof(*alone));
	pthread_t thread;
	size_t n = 0;

	if (!usec || !alone)
		errx(EXIT_FAILURE, "out of memory");
	thread = start_thread(run, walker);
	while (!atomic_load(&walker->begun))
		;
	for (; n < CHILDREN && (n == 0 || !atomic_load(&walker->over)); n++)
		usec[n] = child_once(busy);
	(void)pthread_join(thread, NULL);
	for (size_t i = 0; i < n; i++)
		alone[i] = child_once(busy);
	add_waits(report, name, usec, alone, n);
	free(usec);
	free(alone);
}

static void report_stop(struct report *report)
{
	struct swansong *root = new_root(), *busy = new_child(root), *top = new_child(root);
	struct swansong **crowd = calloc(STOPPED, sizeof(struct swansong *));
	struct walker walker = { .top = top };

	if (!crowd)
		errx(EXIT_FAILURE, "out of memory");
	for (size_t i = 0; i < STOPPED; i++)
		crowd[i] = new_child(top);
	report_children_beside(report, &walker, stop_thread, busy, "child beside a stop");
	report_add(report, (struct figure){ "that stop, of 1000000 nodes", "ms",
					    (double)walker.nsec / 1e6, NAN, TARGET_NONE, 0 });
	for (size_t i = 0; i < STOPPED; i++)
		(void)swansong_unref(crowd[i]);
	(void)swansong_unref(top);
	(void)swansong_unref(busy);
	(void)swansong_unref(root);
	free(crowd);
}

static void report_ends(struct report *report)
{
	struct swansong *root = new_root(), *busy = new_child(root), *top = new_child(root);
	struct swansong_completion **crowd = calloc(ENDS, sizeof(struct swansong_completion *));
	struct walker walker = { .guard = swansong_guard(top) };

	if (!crowd)
		errx(EXIT_FAILURE, "out of memory");
	for (size_t i = 0; i < ENDS; i++)
		if (swansong_completion_new(top, &crowd[i]) < 0)
			errx(EXIT_FAILURE, "out of memory");
	swansong_shut_down(top);
	report_children_beside(report, &walker, drop_thread, busy,
			       "child beside the end of 100000 completions");
	report_add(report, (struct figure){ "that end", "ms", (double)walker.nsec / 1e6, NAN,
					    TARGET_NONE, 0 });
	for (size_t i = 0; i < ENDS; i++)
		(void)swansong_completion_unref(crowd[i]);
	(void)swansong_unref(top);
	(void)swansong_unref(busy);
	(void)swansong_unref(root);
	free(crowd);
}

void report_locks(struct report *report)
{
	report_drops(report);
	report_stop(report);
	report_ends(report);
}
