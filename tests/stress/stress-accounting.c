/*
 * Two accountings, one check: while a thread holds a guard, the root is not complete.  The check
 * must find the fault of the flawed accounting, or it is worth nothing; it must find none in the
 * library.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "flawed.h"
#include "stress.h"
#include <swansong/swansong.h>

#define THREADS	  4
#define PER_ROUND 200

/* Three levels; guards are taken on the leaf. */
struct accounting {
	const char *name;
	void (*begin)(void);
	void (*acquire)(unsigned int thread);
	void (*drop)(unsigned int thread);
	void (*stop)(void);
	bool (*is_complete)(void); /* the root */
	void (*end)(void);
};

/* ---- the library ---- */

static struct swansong *root, *mid, *leaf;
static struct {
	_Alignas(64) struct swansong_guard guard;
} held[THREADS];

static void ours_begin(void)
{
	if (swansong_new(&root) < 0 || swansong_child(root, &mid) < 0 ||
	    swansong_child(mid, &leaf) < 0)
		abort();
}

static void ours_take(unsigned int thread)
{
	held[thread].guard = swansong_guard(leaf);
}

static void ours_drop(unsigned int thread)
{
	swansong_guard_drop(&held[thread].guard);
}

static void ours_stop(void)
{
	swansong_shut_down(root);
}

static bool ours_is_complete(void)
{
	return swansong_state(root) == SWANSONG_COMPLETE;
}

static void ours_end(void)
{
	leaf = swansong_unref(leaf);
	mid = swansong_unref(mid);
	root = swansong_unref(root);
}

static const struct accounting ours = {
	.name = "the library's",
	.begin = ours_begin,
	.acquire = ours_take,
	.drop = ours_drop,
	.stop = ours_stop,
	.is_complete = ours_is_complete,
	.end = ours_end,
};

/* ---- the flawed accounting ---- */

static struct flawed flawed[3];

static void flawed_begin(void)
{
	for (unsigned int i = 0; i < 3; i++)
		flawed[i] = (struct flawed){ .parent = i ? &flawed[i - 1] : NULL };
}

static void flawed_leaf_take(unsigned int thread)
{
	(void)thread;
	flawed_take(&flawed[2]);
}

static void flawed_leaf_drop(unsigned int thread)
{
	(void)thread;
	flawed_drop(&flawed[2]);
}

static void flawed_root_stop(void)
{
	flawed_stop(&flawed[0]);
}

static bool flawed_root_is_complete(void)
{
	return flawed_is_complete(&flawed[0]);
}

static void flawed_end(void)
{
}

static const struct accounting wrong = {
	.name = "the flawed",
	.begin = flawed_begin,
	.acquire = flawed_leaf_take,
	.drop = flawed_leaf_drop,
	.stop = flawed_root_stop,
	.is_complete = flawed_root_is_complete,
	.end = flawed_end,
};

/* ---- the check ---- */

static struct race {
	const struct accounting *accounting;
	pthread_barrier_t barrier;
	bool quit; /* written between two barriers */
	_Atomic unsigned long premature;
	unsigned long missed, rounds;
} race;

struct racer {
	pthread_t thread;
	unsigned int number;
};

static void *racer_main(void *arg)
{
	const struct racer *racer = arg;
	unsigned int me = racer->number;

	for (;;) {
		pthread_barrier_wait(&race.barrier);
		if (race.quit)
			return NULL;
		for (unsigned int i = 0; i < PER_ROUND; i++) {
			race.accounting->acquire(me);
			if (i == PER_ROUND / 4 * me)
				race.accounting->stop();
			if (race.accounting->is_complete())
				race.premature++;
			race.accounting->drop(me);
		}
		pthread_barrier_wait(&race.barrier);
	}
}

/* Runs until @end_usec, or until a fault is found if @until_found. */
static void race_run(const struct accounting *accounting, bool until_found, uint64_t end_usec)
{
	struct racer racers[THREADS];

	race.accounting = accounting;
	race.quit = false;
	race.premature = race.missed = race.rounds = 0;
	(void)pthread_barrier_init(&race.barrier, NULL, THREADS + 1);
	for (unsigned int i = 0; i < THREADS; i++) {
		racers[i].number = i;
		(void)pthread_create(&racers[i].thread, NULL, racer_main, &racers[i]);
	}
	while (clock_now_usec() < end_usec && !(until_found && race.premature)) {
		accounting->begin();
		pthread_barrier_wait(&race.barrier);
		pthread_barrier_wait(&race.barrier);
		race.missed += !accounting->is_complete();
		accounting->end();
		race.rounds++;
	}
	race.quit = true;
	pthread_barrier_wait(&race.barrier);
	for (unsigned int i = 0; i < THREADS; i++)
		(void)pthread_join(racers[i].thread, NULL);
	(void)pthread_barrier_destroy(&race.barrier);
	printf("# %s: %lu rounds, %lu guards, %lu premature completions, %lu missed\n",
	       accounting->name, race.rounds, race.rounds * THREADS * PER_ROUND, race.premature,
	       race.missed);
}

int main(void)
{
	unsigned int failures = 0;
	bool ok;

	printf("1..2\n");
	race_run(&wrong, true, clock_now_usec() + 60 * USEC_PER_SEC);
	ok = race.premature > 0;
	failures += !ok;
	printf("%s 1 - the flawed accounting is found out\n", ok ? "ok" : "not ok");

	race_run(&ours, false, stress_end_usec());
	ok = race.premature == 0 && race.missed == 0 && race.rounds > 0;
	failures += !ok;
	printf("%s 2 - the library never completes under a guard, and always after the last\n",
	       ok ? "ok" : "not ok");
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
