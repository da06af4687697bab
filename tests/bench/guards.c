/*
 * guards: the costs of libswansong, beside a bare atomic addition and subtraction.
 *
 * usage: guards [--json]
 *
 * Where two threads run, the floor is two threads that do the bare pair in the same way, on one word
 * or on a word each.  The library is the shared one, as programs have it.
 */
#include "guards.h"

#include <err.h>
#include <getopt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "../unit/fixtures/fake-daemon.h"

#define STOPS	   1000
#define CACHE_LINE 64

struct word {
	_Alignas(2 * CACHE_LINE) _Atomic uint64_t value;
};

static void loop_bare(void *arg)
{
	struct word *word = arg;

	for (unsigned i = 0; i < PAIRS; i++) {
		(void)atomic_fetch_add(&word->value, 1);
		(void)atomic_fetch_sub(&word->value, 1);
	}
}

/* The same, each behind a call, as a library has to be called. */
static __attribute__((noinline)) void add(struct word *word)
{
	(void)atomic_fetch_add(&word->value, 1);
}

static __attribute__((noinline)) void subtract(struct word *word)
{
	(void)atomic_fetch_sub(&word->value, 1);
}

static void loop_called(void *arg)
{
	for (unsigned i = 0; i < PAIRS; i++) {
		add(arg);
		subtract(arg);
	}
}

static void loop_guard(void *arg)
{
	struct swansong *node = arg;

	for (unsigned i = 0; i < PAIRS; i++) {
		struct swansong_guard guard = swansong_guard(node);

		swansong_guard_drop(&guard);
	}
}

static void loop_interrupt(void *arg)
{
	const struct swansong_interrupt *interrupt = arg;

	for (unsigned i = 0; i < PAIRS; i++)
		if (swansong_interrupted(interrupt))
			errx(EXIT_FAILURE, "nobody has stopped it");
}

/* A node so far below @root; its parents are kept by it alone. */
static struct swansong *new_descendant(struct swansong *root, unsigned depth)
{
	struct swansong *node = swansong_ref(root);

	for (; depth > 0; depth--) {
		struct swansong *child = new_child(node);

		(void)swansong_unref(node);
		node = child;
	}
	return node;
}

/* --- guards of one thread --- */

static double guard_at(unsigned depth, bool stopped, double *bare)
{
	struct word word = { 0 };
	struct swansong *root = new_root();
	struct swansong *node = new_descendant(root, depth);
	/* Something is in progress besides, or there would be nothing to wait for. */
	struct swansong_guard held = swansong_guard(node);
	double nsec;

	if (stopped)
		swansong_shut_down(root);
	nsec = take_time_beside(loop_guard, node, loop_bare, &word, bare);
	swansong_guard_drop(&held);
	(void)swansong_unref(node);
	(void)swansong_unref(root);
	return nsec;
}

static void report_guards(struct report *report)
{
	static const unsigned depths[] = { 0, 1, 4, 100, 1000 };
	char name[64];

	for (size_t i = 0; i < 2 * ARRAY_SIZE(depths); i++) {
		unsigned depth = depths[i % ARRAY_SIZE(depths)];
		bool stopped = i >= ARRAY_SIZE(depths);

		double bare, nsec = guard_at(depth, stopped, &bare);

		(void)snprintf(name, sizeof(name), "guard, %s, depth %u",
			       stopped ? "stopped" : "running", depth);
		/* After the stop, the pair is in another word, and a drop is an exchange. */
		report_add(report, (struct figure){ name, "ns", nsec, bare, TARGET_RATIO,
						    stopped ? 2.6 : 1.3 });
	}
}

/* At a great depth a pair is long: fewer of them, so that some loop is not interrupted. */
#define FEWER 50

static void loop_fewer_guards(void *arg)
{
	struct swansong *node = arg;

	for (unsigned i = 0; i < PAIRS / FEWER; i++) {
		struct swansong_guard guard = swansong_guard(node);

		swansong_guard_drop(&guard);
	}
}

/* With no other guard there, each pair goes up to the root. */
static void report_only_guard(struct report *report, double bare)
{
	static const unsigned depths[] = { 0, 4, 100 };
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(depths); i++) {
		struct swansong *root = new_root();
		struct swansong *node = new_descendant(root, depths[i]);

		swansong_shut_down(root);
		(void)snprintf(name, sizeof(name), "guard, stopped, depth %u, first and last",
			       depths[i]);
		report_add(report,
			   (struct figure){ name, "ns", FEWER * take_time(loop_fewer_guards, node),
					    bare, TARGET_NONE, 0 });
		(void)swansong_unref(node);
		(void)swansong_unref(root);
	}
}

/* The same without inlining: the calls cost more than the counting. */
static void report_calls(struct report *report)
{
	struct word word = { 0 }, other = { 0 };
	double bare, nsec = take_time_beside(loop_called, &other, loop_bare, &word, &bare);

	report_add(report, (struct figure){ "the pair itself, behind two calls", "ns", nsec, bare,
					    TARGET_NONE, 0 });
}

static void loop_memory(void *arg)
{
	(void)arg;
	for (unsigned i = 0; i < PAIRS; i++) {
		void *volatile memory = malloc(64);

		free(memory);
	}
}

static void loop_new_interrupt(void *arg)
{
	for (unsigned i = 0; i < PAIRS; i++) {
		struct swansong_interrupt *interrupt;

		if (swansong_interrupt_new(arg, &interrupt) < 0)
			errx(EXIT_FAILURE, "out of memory");
		(void)swansong_interrupt_unref(interrupt);
	}
}

static void loop_new_completion(void *arg)
{
	for (unsigned i = 0; i < PAIRS; i++) {
		struct swansong_completion *completion;

		if (swansong_completion_new(arg, &completion) < 0)
			errx(EXIT_FAILURE, "out of memory");
		(void)swansong_completion_unref(completion);
	}
}

static void report_watchers(struct report *report)
{
	struct swansong *root = new_root();
	double floor, nsec;

	nsec = take_time_beside(loop_new_interrupt, root, loop_memory, NULL, &floor);
	report_add(report, (struct figure){ "interrupt, new and unref; floor: malloc and free",
					    "ns", nsec, floor, TARGET_NONE, 0 });
	nsec = take_time_beside(loop_new_completion, root, loop_memory, NULL, &floor);
	report_add(report, (struct figure){ "completion, new and unref; the same", "ns", nsec,
					    floor, TARGET_NONE, 0 });
	(void)swansong_unref(root);
}

static void report_interrupt(struct report *report, double bare)
{
	struct swansong *root = new_root();
	struct swansong_interrupt *interrupt;

	if (swansong_interrupt_new(root, &interrupt) < 0)
		errx(EXIT_FAILURE, "out of memory");
	report_add(report,
		   (struct figure){ "interrupt check", "ns", take_time(loop_interrupt, interrupt),
				    bare, TARGET_NONE, 0 });
	(void)swansong_interrupt_unref(interrupt);
	(void)swansong_unref(root);
}

/* --- two threads --- */

static void report_threads(struct report *report)
{
	struct word words[2] = { 0 };
	struct swansong *root = new_root();
	struct swansong *siblings[] = { new_child(root), new_child(root) };
	double alone = take_time(loop_guard, siblings[0]);
	double apart = take_time_of_two(loop_guard, siblings[0], siblings[1]);

	report_add(report, (struct figure){ "guard, two threads on one node", "ns",
					    take_time_of_two(loop_guard, root, root),
					    take_time_of_two(loop_bare, &words[0], &words[0]),
					    TARGET_NONE, 0 });
	report_add(report, (struct figure){ "guard, two threads on two siblings", "ns", apart,
					    take_time_of_two(loop_bare, &words[0], &words[1]),
					    TARGET_RATIO, 1.3 });
	/* Twice the work in 1 / 0.9 of the time is 1.8 times as fast. */
	report_add(report, (struct figure){ "the same; floor: one of them alone", "ns", apart,
					    alone, TARGET_RATIO, 1 / 0.9 });
	(void)swansong_unref(siblings[0]);
	(void)swansong_unref(siblings[1]);
	(void)swansong_unref(root);
}

/*
 * A node that both threads use, plain and with counts of each processor.  Two threads at once have to
 * do at least 1.7 times as much as one of them alone, which is the floor.
 */
static void report_percpu(struct report *report)
{
	struct swansong *root = new_root(), *plain = new_root();
	struct word word = { 0 };
	double bare, alone, together;

	if (swansong_percpu_enable(root) < 0)
		errx(EXIT_FAILURE, "out of memory");
	alone = take_time_beside(loop_guard, root, loop_bare, &word, &bare);
	report_add(report,
		   (struct figure){ "guard, per CPU", "ns", alone, bare, TARGET_RATIO, 1.3 });
	together = take_time_of_two(loop_guard, root, root);
	report_add(report,
		   (struct figure){ "per CPU, two threads; floor: a plain node", "ns", together,
				    take_time_of_two(loop_guard, plain, plain), TARGET_NONE, 0 });
	report_add(report, (struct figure){ "the same; floor: one of them alone", "ns", together,
					    alone, TARGET_RATIO, 2 / 1.7 });
	(void)swansong_unref(root);
	(void)swansong_unref(plain);
}

/*
 * A program that is attached to a daemon: each guard is in the page that they share besides.  The root
 * counts for each processor, and its children as any do.
 */
static void report_attached(struct report *report)
{
	struct fake_daemon daemon;
	struct swansong *root, *child, *plain = new_root();
	double floor, nsec;

	if (!fake_daemon_make(&daemon, (uint32_t)sysconf(_SC_NPROCESSORS_CONF),
			      FAKE_DAEMON_SEALS) ||
	    swansong_attach(&root) != 1)
		errx(EXIT_FAILURE, "cannot attach");
	child = new_child(root);
	nsec = take_time_beside(loop_guard, root, loop_guard, plain, &floor);
	report_add(report, (struct figure){ "attached; floor: a plain node", "ns", nsec, floor,
					    TARGET_RATIO, 1.5 });
	nsec = take_time_beside(loop_guard, child, loop_guard, plain, &floor);
	report_add(report, (struct figure){ "attached, a child; floor: a plain node", "ns", nsec,
					    floor, TARGET_RATIO, 1.5 });
	floor = take_time_of_two(loop_guard, plain, plain);
	report_add(report, (struct figure){ "attached, two threads; floor: a plain node", "ns",
					    take_time_of_two(loop_guard, root, root), floor,
					    TARGET_RATIO, 1.5 });
	report_add(report, (struct figure){ "attached child, two threads; the same", "ns",
					    take_time_of_two(loop_guard, child, child), floor,
					    TARGET_NONE, 0 });
	(void)swansong_unref(child);
	(void)swansong_unref(root);
	(void)swansong_unref(plain);
	fake_daemon_end(&daemon);
}

/* The stop of a node without waiters, and its end. */
static double stop_once(bool percpu)
{
	struct swansong *root = new_root();
	uint64_t begun, ended;

	if (percpu && swansong_percpu_enable(root) < 0)
		errx(EXIT_FAILURE, "out of memory");
	begun = now_nsec();
	swansong_shut_down(root);
	ended = now_nsec();
	(void)swansong_unref(root);
	return (double)(ended - begun);
}

static void report_stops(struct report *report)
{
	double plain[STOPS], percpu[STOPS];

	for (size_t i = 0; i < STOPS; i++) {
		plain[i] = stop_once(false);
		percpu[i] = stop_once(true);
	}
	report_add(report, (struct figure){ "shut_down, per CPU; floor: a plain node", "ns",
					    percentile(percpu, STOPS, 0.5),
					    percentile(plain, STOPS, 0.5), TARGET_NONE, 0 });
}

static bool parse_options(int argc, char **argv)
{
	static const struct option options[] = { { "json", no_argument, NULL, 'j' }, { 0 } };
	bool json = false;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option != 'j')
			errx(2, "usage: guards [--json]");
		json = true;
	}
	return json;
}

int main(int argc, char **argv)
{
	struct swansong **crowd = calloc(CROWD, sizeof(struct swansong *));
	struct report report;
	struct word word = { 0 };
	double bare;

	report_init(&report, parse_options(argc, argv));
	if (!crowd)
		errx(EXIT_FAILURE, "out of memory");
	report_begin(&report, "libswansong; floor: one atomic addition and subtraction");
	bare = take_time(loop_bare, &word);
	report_guards(&report);
	report_only_guard(&report, bare);
	report_calls(&report);
	report_watchers(&report);
	report_interrupt(&report, bare);
	report_reads(&report);
	report_threads(&report);
	report_percpu(&report);
	report_attached(&report);
	report_stops(&report);
	report_children(&report, crowd, bare);
	report_crowd(&report, crowd, bare);
	report_bytes(&report, crowd);
	report_wakes(&report);
	report_locks(&report);
	free(crowd);
	return report_end(&report);
}
