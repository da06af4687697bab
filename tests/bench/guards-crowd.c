/* Many nodes: their memory, their time, and their end. */
#include "guards.h"

#include <err.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define ROUNDS 5

static void add_children(struct swansong *parent, struct swansong **children, size_t n)
{
	for (size_t i = 0; i < n; i++)
		children[i] = new_child(parent);
}

static void drop_children(struct swansong **children, size_t n)
{
	for (size_t i = 0; i < n; i++)
		children[i] = swansong_unref(children[i]);
}

static void loop_child(void *arg)
{
	for (unsigned i = 0; i < PAIRS / 50; i++)
		(void)swansong_unref(new_child(arg));
}

void report_children(struct report *report, struct swansong **crowd, double bare)
{
	static const size_t counts[] = { 0, 1, 100, 10000, CROWD };
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		struct swansong *root = new_root();

		add_children(root, crowd, counts[i]);
		(void)snprintf(name, sizeof(name), "child and unref, %zu siblings", counts[i]);
		report_add(report, (struct figure){ name, "ns", take_time(loop_child, root) * 50,
						    bare, TARGET_NONE, 0 });
		drop_children(crowd, counts[i]);
		(void)swansong_unref(root);
	}
}

/* Returns the resident memory of this process, by the kernel. */
static double resident_bytes(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "re");
	long kbytes;

	if (!f || fscanf(f, "%*[^\n] Rss: %ld", &kbytes) != 1)
		err(EXIT_FAILURE, "/proc/self/smaps_rollup");
	(void)fclose(f);
	return (double)kbytes * 1024;
}

void report_bytes(struct report *report, struct swansong **crowd)
{
	struct swansong *root = new_root();
	double before;

	memset(crowd, 0, CROWD * sizeof(*crowd)); /* it has its pages */
	(void)malloc_trim(0);
	before = resident_bytes();
	add_children(root, crowd, CROWD);
	report_add(report, (struct figure){ "a node, resident", "bytes",
					    (resident_bytes() - before) / CROWD, NAN,
					    TARGET_MEASURED, 256 });
	report_add(report, (struct figure){ "a guard, its value", "bytes",
					    sizeof(struct swansong_guard), NAN, TARGET_NONE, 0 });
	drop_children(crowd, CROWD);
	(void)swansong_unref(root);
}

/* The end of a crowd with a guard each: the stop, and the drops until the root is complete. */
static void end_crowd(struct swansong **crowd, struct swansong_guard *guards, double *stop_msec,
		      double *drop_msec)
{
	struct swansong *root = new_root();
	uint64_t begun, stopped, dropped;

	add_children(root, crowd, CROWD);
	for (size_t i = 0; i < CROWD; i++)
		guards[i] = swansong_guard(crowd[i]);
	begun = now_nsec();
	swansong_shut_down(root);
	stopped = now_nsec();
	for (size_t i = 0; i < CROWD; i++)
		swansong_guard_drop(&guards[i]);
	if (swansong_wait(root, UINT64_MAX) < 0)
		errx(EXIT_FAILURE, "it is not complete");
	dropped = now_nsec();
	*stop_msec = fmin(*stop_msec, (double)(stopped - begun) / 1e6);
	*drop_msec = fmin(*drop_msec, (double)(dropped - stopped) / 1e6);
	drop_children(crowd, CROWD);
	(void)swansong_unref(root);
}

void report_crowd(struct report *report, struct swansong **crowd, double bare)
{
	struct swansong_guard *guards = calloc(CROWD, sizeof(*guards));
	double stop_msec = INFINITY, drop_msec = INFINITY;

	if (!guards)
		errx(EXIT_FAILURE, "out of memory");
	for (unsigned i = 0; i < ROUNDS; i++)
		end_crowd(crowd, guards, &stop_msec, &drop_msec);
	report_add(report, (struct figure){ "shut_down of 100000 children", "ms", stop_msec,
					    bare * CROWD / 1e6, TARGET_MEASURED, 20 });
	report_add(report, (struct figure){ "dropping their 100000 guards", "ms", drop_msec,
					    bare * CROWD / 1e6, TARGET_NONE, 0 });
	free(guards);
}
