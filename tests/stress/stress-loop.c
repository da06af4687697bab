/*
 * Soaks the timeouts of a loop and a pool, and every order in which they can come to their end
 * while work is late.  A run begins a batch of offloaded work, posts from aside, and takes all of
 * it down.
 *
 *	RUNS		number of runs (60)
 *	TIMEOUT_PER_RUN	seconds after which a run hangs (30)
 *	CONCURRENCY	threads of the pool; four times as much is offloaded at once (8)
 *
 * In every second run all work must time out: it ends when the test allows it, which is later.  In
 * the other runs most of it is short.  Work has the deadline of its run, or its own timeout, if
 * there is one and it is shorter:
 *
 *	DEADLINE_MS_TIMEOUT, NODE_TIMEOUT_MS_TIMEOUT	of work that must time out (10, 0: none)
 *	DEADLINE_MS_SUCCESS, NODE_TIMEOUT_MS_SUCCESS	of short work (5000, 0: none)
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "stress.h"
#include <swansong/swansong.h>

enum fault {
	POSTS_LOST,
	NOT_REPORTED,
	NOT_RELEASED,
	RELEASED_EARLY,
	IN_TIME,
	NOT_IN_TIME,
	REFUSED,
	N_FAULTS
};

static const char *const fault_names[N_FAULTS] = {
	[POSTS_LOST] = "executed is accepted, for posts from any thread",
	[NOT_REPORTED] = "every result is reported once",
	[NOT_RELEASED] = "everything is released once, when the pool's node is complete",
	[RELEASED_EARLY] = "nothing is released before its work and its result are over",
	[IN_TIME] = "work that must time out is never reported as done",
	[NOT_IN_TIME] = "most short work is done in time",
	[REFUSED] = "a running loop and pool accept",
};

static _Atomic unsigned long faults[N_FAULTS];

static void check(bool ok, enum fault fault)
{
	if (!ok)
		faults[fault]++;
}

static struct knobs {
	unsigned int runs, timeout_per_run, concurrency;
	unsigned int late_ms, short_ms; /* how long work takes */
} knobs;

/* The ways to the end. */
enum end { DRAIN, DROP_LOOP, DROP_POOL, LOOP_STOPS_ITSELF, STOP_BOTH, DROP_ROOT, N_ENDS };

static struct run {
	bool must_time_out;
	struct swansong *root, *hold; /* late work ends when hold is stopped */
	struct swansong_loop *loop;
	struct swansong_pool *pool;
	sem_t reported;

	/* Plain: the order that guards give must be enough. */
	unsigned int accepted, released;
	pthread_mutex_t lock; /* among the threads that release */
	unsigned int reports, done, timed_out;
} run;

struct work {
	bool late;
	bool works, reported; /* is, and has been */
	uint32_t random;
};

/* ---- offloaded work ---- */

static void work_do(void *arg)
{
	struct work *w = arg;

	w->works = true;
	if (w->late)
		(void)swansong_stopped_wait(run.hold, UINT64_MAX);
	else
		for (unsigned int i = stress_random(&w->random) % 1000; i > 0; i--)
			(void)stress_random(&w->random);
	w->works = false;
}

static void work_reported(void *arg, int result)
{
	struct work *w = arg;

	check(!w->reported, NOT_REPORTED);
	w->reported = true;
	run.reports++;
	run.done += result == 0;
	run.timed_out += result == -ETIMEDOUT;
	/* Late work ends in time only if the test allowed it without waiting for its result. */
	check(result == 0 || result == -ETIMEDOUT || result == -ESHUTDOWN, NOT_REPORTED);
	sem_post(&run.reported);
}

static void work_release(void *arg)
{
	struct work *w = arg;

	check(w->reported && !w->works, RELEASED_EARLY);
	memset(w, 0xdd, sizeof(*w));
	free(w);
	pthread_mutex_lock(&run.lock);
	run.released++;
	pthread_mutex_unlock(&run.lock);
}

static void offload_one(bool late, uint32_t *random)
{
	struct work *w = calloc(1, sizeof(*w));
	struct swansong_offload o = {
		.work = work_do,
		.done = work_reported,
		.release = work_release,
		.arg = w,
	};
	uint64_t timeout = (late ? knobs.late_ms : knobs.short_ms) * USEC_PER_MSEC;

	if (!w)
		abort();
	w->late = late;
	w->random = stress_random(random);
	if (swansong_pool_offload(run.pool, run.loop, &o, timeout) == 0) {
		run.accepted++;
	} else {
		free(w);
		check(false, REFUSED);
	}
}

/* ---- posts from aside ---- */

struct poster {
	pthread_t thread;
	unsigned int accepted, executed;
};

static void count_call(void *arg)
{
	(*(unsigned int *)arg)++;
}

static void *post_until_refused(void *arg)
{
	struct poster *p = arg;
	int r;

	while ((r = swansong_loop_post(run.loop, count_call, &p->executed)) == 0) {
		p->accepted++;
		if (p->accepted % 16 == 0)
			usleep(1000); /* this is a trickle */
	}
	check(r == -ESHUTDOWN, POSTS_LOST);
	return NULL;
}

/* ---- the ends ---- */

static void *stop_loop(void *arg)
{
	(void)swansong_loop_stop(arg);
	return NULL;
}

static void stop_loop_within(void *arg)
{
	(void)swansong_loop_stop(arg);
}

static void await_reports(unsigned int n)
{
	while (n-- > 0)
		while (sem_wait(&run.reported) < 0)
			;
}

/* All results are reported, in time or not, and only then may late work end. */
static void end_by_drain(void)
{
	await_reports(run.accepted);
	if (run.must_time_out)
		check(run.done == 0 && run.timed_out == run.accepted, IN_TIME);
	else
		check(2 * run.done > run.accepted, NOT_IN_TIME);
	swansong_shut_down(run.hold);
	swansong_shut_down(swansong_pool_node(run.pool));
	(void)swansong_wait(swansong_pool_node(run.pool), UINT64_MAX);
}

/* Returns with the loop stopped, for the poster, and perhaps with late work. */
static void end_by(enum end end)
{
	pthread_t stopper;

	switch (end) {
	case DRAIN:
	case DROP_ROOT:
		end_by_drain();
		(void)swansong_loop_stop(run.loop);
		break;
	case DROP_LOOP:
		await_reports(run.accepted / 2);
		(void)swansong_loop_stop(run.loop);
		break;
	case DROP_POOL:
		await_reports(run.accepted / 2);
		swansong_shut_down(run.hold);
		run.pool = swansong_pool_unref(run.pool);
		(void)swansong_loop_stop(run.loop);
		break;
	case LOOP_STOPS_ITSELF:
		await_reports(run.accepted / 4);
		check(swansong_loop_post(run.loop, stop_loop_within, run.loop) == 0, REFUSED);
		break;
	case STOP_BOTH:
	case N_ENDS:
		(void)pthread_create(&stopper, NULL, stop_loop, run.loop);
		swansong_shut_down(run.hold);
		swansong_pool_stop(run.pool);
		(void)pthread_join(stopper, NULL);
		break;
	}
}

/* ---- a run ---- */

static void begin_run(bool must_time_out, uint32_t *random)
{
	run = (struct run){ .must_time_out = must_time_out };
	(void)sem_init(&run.reported, 0, 0);
	(void)pthread_mutex_init(&run.lock, NULL);
	if (swansong_new(&run.root) < 0 || swansong_new(&run.hold) < 0 ||
	    swansong_loop_new(run.root, &run.loop) < 0 || swansong_loop_start(run.loop) < 0 ||
	    swansong_pool_new(run.root, knobs.concurrency, &run.pool) < 0)
		abort();
	for (unsigned int i = 0; i < 4 * knobs.concurrency; i++)
		offload_one(must_time_out || i % 16 == 15, random);
}

/* Drops everything at once; only the node of the pool is left for questions. */
static void end_run(enum end end)
{
	struct swansong *node = swansong_ref(swansong_pool_node(run.pool));
	struct poster poster = { .accepted = 0 };

	(void)pthread_create(&poster.thread, NULL, post_until_refused, &poster);
	end_by(end);
	(void)pthread_join(poster.thread, NULL);
	run.loop = swansong_loop_unref(run.loop);
	check(poster.executed == poster.accepted, POSTS_LOST);

	swansong_shut_down(run.hold);
	if (end != DROP_ROOT)
		run.pool = swansong_pool_unref(run.pool);
	run.root = swansong_unref(run.root);
	(void)swansong_wait(node, UINT64_MAX);
	check(run.reports == run.accepted, NOT_REPORTED);
	check(run.released == run.accepted, NOT_RELEASED);
	run.pool = swansong_pool_unref(run.pool);
	run.hold = swansong_unref(run.hold);
	node = swansong_unref(node);
	(void)sem_destroy(&run.reported);
	(void)pthread_mutex_destroy(&run.lock);
}

static unsigned int knob(const char *name, unsigned int otherwise)
{
	const char *env = getenv(name);

	return env && atoi(env) > 0 ? (unsigned int)atoi(env) : otherwise;
}

static unsigned int shorter(unsigned int deadline_ms, unsigned int timeout_ms)
{
	return timeout_ms && timeout_ms < deadline_ms ? timeout_ms : deadline_ms;
}

static void hang(int signal)
{
	static const char message[] = "Bail out! A run hangs\n";

	(void)signal;
	(void)!write(STDOUT_FILENO, message, sizeof(message) - 1);
	_exit(EXIT_FAILURE);
}

int main(void)
{
	unsigned long offloaded = 0, timed_out = 0, done = 0;
	uint32_t random = 1;

	knobs = (struct knobs){
		.runs = knob("RUNS", 60),
		.timeout_per_run = knob("TIMEOUT_PER_RUN", 30),
		.concurrency = knob("CONCURRENCY", 8),
		.late_ms = shorter(knob("DEADLINE_MS_TIMEOUT", 10),
				   knob("NODE_TIMEOUT_MS_TIMEOUT", 0)),
		.short_ms = shorter(knob("DEADLINE_MS_SUCCESS", 5000),
				    knob("NODE_TIMEOUT_MS_SUCCESS", 0)),
	};
	(void)signal(SIGALRM, hang);
	printf("1..%d\n", N_FAULTS);
	for (unsigned int i = 0; i < knobs.runs; i++) {
		fflush(stdout);
		alarm(knobs.timeout_per_run);
		begin_run(i % 2 == 0, &random);
		end_run(i / 2 % N_ENDS);
		offloaded += run.accepted;
		timed_out += run.timed_out;
		done += run.done;
	}
	alarm(0);
	printf("# %u runs, %lu offloaded: %lu done, %lu timed out, the others cut off\n",
	       knobs.runs, offloaded, done, timed_out);
	return stress_report(fault_names, faults, N_FAULTS);
}
