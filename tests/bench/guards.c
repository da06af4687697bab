/*
 * guards: what libswansong costs, beside a bare atomic addition and subtraction.
 *
 * usage: guards [--json]
 *
 * Each loop is run several times and the fastest counts: whatever else the machine does only ever
 * makes it slower.  Where two threads run, the floor is two threads that do the bare pair in the
 * same way, on one word or on a word each.  The library is the shared one, as programs have it.
 */
#include <err.h>
#include <getopt.h>
#include <linux/futex.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"
#include "report.h"
#include "swansong/swansong.h"
#include "../unit/fake-daemon.h"

#define PAIRS	     50000 /* short enough that some loop is not interrupted */
#define ROUNDS	     200
#define CROWD	     100000
#define CROWD_ROUNDS 5
#define WAKES	     300
#define STOPS	     1000
#define CACHE_LINE   64

struct word {
	_Alignas(2 * CACHE_LINE) _Atomic uint64_t value;
};

/* One loop of PAIRS turns on @arg. */
typedef void loop(void *arg);

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

/* --- taking the time --- */

/* Nanoseconds a turn. */
static double take_time(loop *run, void *arg)
{
	double best = INFINITY;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t begun = now_nsec();

		run(arg);
		best = fmin(best, (double)(now_nsec() - begun) / PAIRS);
	}
	return best;
}

/* Two loops by turns, so that both see the same machine; the second is the floor. */
static double take_time_beside(loop *run, void *arg, loop *run_floor, void *floor_arg,
			       double *floor)
{
	double best = INFINITY;

	*floor = INFINITY;
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t begun = now_nsec(), between;

		run(arg);
		between = now_nsec();
		run_floor(floor_arg);
		best = fmin(best, (double)(between - begun) / PAIRS);
		*floor = fmin(*floor, (double)(now_nsec() - between) / PAIRS);
	}
	return best;
}

struct runner {
	loop *run;
	void *arg;
	pthread_barrier_t *barrier;
	uint64_t begun_nsec, ended_nsec;
};

static void *run_thread(void *arg)
{
	struct runner *runner = arg;

	(void)pthread_barrier_wait(runner->barrier);
	runner->begun_nsec = now_nsec();
	runner->run(runner->arg);
	runner->ended_nsec = now_nsec();
	return NULL;
}

static pthread_t start_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, arg) != 0)
		errx(EXIT_FAILURE, "cannot make a thread");
	return thread;
}

/* The same for two threads at once: nanoseconds in which each makes a turn. */
static double take_time_of_two(loop *run, void *a, void *b)
{
	pthread_barrier_t barrier;
	struct runner first = { .run = run, .arg = a, .barrier = &barrier };
	struct runner second = { .run = run, .arg = b, .barrier = &barrier };
	double best = INFINITY;

	(void)pthread_barrier_init(&barrier, NULL, 2);
	for (unsigned i = 0; i < ROUNDS; i++) {
		pthread_t thread = start_thread(run_thread, &first);
		uint64_t begun, ended;

		(void)run_thread(&second);
		(void)pthread_join(thread, NULL);
		begun = MIN(first.begun_nsec, second.begun_nsec);
		ended = first.ended_nsec > second.ended_nsec ? first.ended_nsec : second.ended_nsec;
		best = fmin(best, (double)(ended - begun) / PAIRS);
	}
	(void)pthread_barrier_destroy(&barrier);
	return best;
}

/* --- nodes --- */

static struct swansong *new_root(void)
{
	struct swansong *root;

	if (swansong_new(&root) < 0)
		errx(EXIT_FAILURE, "out of memory");
	return root;
}

static struct swansong *new_child(struct swansong *parent)
{
	struct swansong *child;

	if (swansong_child(parent, &child) < 0)
		errx(EXIT_FAILURE, "out of memory");
	return child;
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
	static const unsigned depths[] = { 0, 1, 2, 4 };
	char name[64];

	for (size_t i = 0; i < 2 * ARRAY_SIZE(depths); i++) {
		unsigned depth = depths[i % ARRAY_SIZE(depths)];
		bool stopped = i >= ARRAY_SIZE(depths);

		double bare, nsec = guard_at(depth, stopped, &bare);

		(void)snprintf(name, sizeof(name), "guard, %s, depth %u",
			       stopped ? "stopped" : "running", depth);
		/* After the stop each node above costs a pair more. */
		report_add(report, (struct figure){ name, "ns", nsec, bare, TARGET_RATIO,
						    stopped ? 1.3 * (2 + depth) : 1.3 });
	}
}

/* What it would be if nothing was inlined: the calls cost more than the counting does. */
static void report_calls(struct report *report)
{
	struct word word = { 0 }, other = { 0 };
	double bare, nsec = take_time_beside(loop_called, &other, loop_bare, &word, &bare);

	report_add(report, (struct figure){ "the pair itself, behind two calls", "ns", nsec, bare,
					    TARGET_NONE, 0 });
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
 * One node that both use, plain and with counts of each processor.  Two threads at once have to do
 * at least 1.7 times as much as one of them alone, who is the floor.
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

/* The stop of a node nobody waits for, and its end. */
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

/* --- many nodes --- */

static void loop_child(void *arg)
{
	for (unsigned i = 0; i < PAIRS / 50; i++)
		(void)swansong_unref(new_child(arg));
}

static void report_children(struct report *report, struct swansong **crowd, double bare)
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

static void report_bytes(struct report *report, struct swansong **crowd)
{
	struct swansong *root = new_root();
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;

	add_children(root, crowd, CROWD);
	report_add(report,
		   (struct figure){ "a node", "bytes",
				    (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) /
					    CROWD,
				    NAN, TARGET_MEASURED, 256 });
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

static void report_crowd(struct report *report, struct swansong **crowd, double bare)
{
	struct swansong_guard *guards = calloc(CROWD, sizeof(*guards));
	double stop_msec = INFINITY, drop_msec = INFINITY;

	if (!guards)
		errx(EXIT_FAILURE, "out of memory");
	for (unsigned i = 0; i < CROWD_ROUNDS; i++)
		end_crowd(crowd, guards, &stop_msec, &drop_msec);
	report_add(report, (struct figure){ "shut_down of 100000 children", "ms", stop_msec,
					    bare * CROWD / 1e6, TARGET_MEASURED, 20 });
	report_add(report, (struct figure){ "dropping their 100000 guards", "ms", drop_msec,
					    bare * CROWD / 1e6, TARGET_NONE, 0 });
	free(guards);
}

/* --- from the last drop to the waiter --- */

struct sleeper {
	void (*sleep)(struct sleeper *sleeper);
	void (*wake)(struct sleeper *sleeper);
	_Atomic int tid;
	uint64_t awake_nsec;
	struct swansong *node; /* of the library's way */
	struct swansong_guard guard;
	_Atomic uint32_t word; /* of the bare one */
};

static void sleep_on_node(struct sleeper *s)
{
	(void)swansong_wait(s->node, UINT64_MAX);
}

static void wake_by_drop(struct sleeper *s)
{
	swansong_guard_drop(&s->guard);
}

static void sleep_on_word(struct sleeper *s)
{
	while (!atomic_load(&s->word))
		(void)syscall(SYS_futex, &s->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void wake_by_word(struct sleeper *s)
{
	atomic_store(&s->word, 1);
	(void)syscall(SYS_futex, &s->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *sleep_thread(void *arg)
{
	struct sleeper *s = arg;

	atomic_store(&s->tid, gettid());
	s->sleep(s);
	s->awake_nsec = now_nsec();
	return NULL;
}

/* "PID (NAME) S": it sleeps. */
static bool is_asleep(pid_t tid)
{
	char path[64], text[256] = "";
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "re");
	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = '\0';
		(void)fclose(f);
	}
	return strstr(text, ") S ") != NULL;
}

static double wake_once(struct sleeper *s)
{
	pthread_t thread = start_thread(sleep_thread, s);
	uint64_t begun;

	while (atomic_load(&s->tid) == 0 || !is_asleep(atomic_load(&s->tid)))
		;
	begun = now_nsec();
	s->wake(s);
	(void)pthread_join(thread, NULL);
	return (double)(s->awake_nsec - begun) / 1e3;
}

static double wake_node(void)
{
	struct sleeper s = { .sleep = sleep_on_node, .wake = wake_by_drop, .node = new_root() };
	double usec;

	s.guard = swansong_guard(s.node);
	swansong_shut_down(s.node);
	usec = wake_once(&s);
	(void)swansong_unref(s.node);
	return usec;
}

static double wake_word(void)
{
	struct sleeper s = { .sleep = sleep_on_word, .wake = wake_by_word };

	return wake_once(&s);
}

static void report_wakes(struct report *report)
{
	double node[WAKES], word[WAKES];

	for (size_t i = 0; i < WAKES; i++) {
		node[i] = wake_node();
		word[i] = wake_word();
	}
	report_add(report, (struct figure){ "last drop to waiter, median; floor: futex", "us",
					    percentile(node, WAKES, 0.5),
					    percentile(word, WAKES, 0.5), TARGET_NONE, 0 });
	report_add(report, (struct figure){ "the same, 99 %", "us", percentile(node, WAKES, 0.99),
					    percentile(word, WAKES, 0.99), TARGET_NONE, 0 });
}

/* --- */

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
	report_calls(&report);
	report_interrupt(&report, bare);
	report_threads(&report);
	report_percpu(&report);
	report_attached(&report);
	report_stops(&report);
	report_children(&report, crowd, bare);
	report_crowd(&report, crowd, bare);
	report_bytes(&report, crowd);
	report_wakes(&report);
	free(crowd);
	return report_end(&report);
}
