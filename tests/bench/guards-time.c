#include "guards.h"

#include <err.h>
#include <math.h>
#include <pthread.h>

#include "base/macro.h"

#define ROUNDS 200

double take_time(loop *run, void *arg)
{
	double best = INFINITY;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t begun = now_nsec();

		run(arg);
		best = fmin(best, (double)(now_nsec() - begun) / PAIRS);
	}
	return best;
}

double take_time_beside(loop *run, void *arg, loop *run_floor, void *floor_arg, double *floor)
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

pthread_t start_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, fn, arg) != 0)
		errx(EXIT_FAILURE, "cannot make a thread");
	return thread;
}

double take_time_of_two(loop *run, void *a, void *b)
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

struct swansong *new_root(void)
{
	struct swansong *root;

	if (swansong_new(&root) < 0)
		errx(EXIT_FAILURE, "out of memory");
	return root;
}

struct swansong *new_child(struct swansong *parent)
{
	struct swansong *child;

	if (swansong_child(parent, &child) < 0)
		errx(EXIT_FAILURE, "out of memory");
	return child;
}
