/*
 * A correct program: its threads share plain memory, and only libswansong orders the steps that they
 * do with it.  tests/lint/races.sh has ThreadSanitizer look at it, and at the library not.
 *
 * usage: races [--flawed]: with a race of its own, which is to be found
 */
#include <err.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <swansong/swansong.h>

#define ROUNDS	40
#define WORKERS 3

static void must(bool done, const char *what)
{
	if (!done)
		errx(EXIT_FAILURE, "%s", what);
}

static pthread_t start(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, body, arg) == 0, "a thread");
	return thread;
}

static struct swansong *new_root(void)
{
	struct swansong *root;

	must(swansong_new(&root) == 0, "a root");
	return root;
}

/* ---- guards that are handed to threads; their work is looked at after the end ---- */

enum way { WAIT, DONE, STATE, COMPLETION_WAIT, FD, NOTIFY, COUNT_PERCPU, RECORDED, N_WAYS };

struct work {
	struct swansong_guard guard;
	struct swansong *node; /* a reference, or NULL */
	int result;
};

static int sum_of(const struct work *work)
{
	int sum = 0;

	for (int i = 0; i < WORKERS; i++)
		sum += work[i].result;
	return sum;
}

static void *work_thread(void *arg)
{
	struct work *work = arg;
	struct swansong_guard guard = work->guard;

	for (int i = 0; i < 20; i++) {
		struct swansong_guard another = swansong_guard_clone(&guard);

		swansong_guard_drop(&another);
	}
	work->result = 1;
	swansong_unref(work->node);
	swansong_guard_drop(&guard);
	return NULL;
}

struct told {
	const struct work *work;
	_Atomic int sum;
};

static void look_when_told(void *arg)
{
	struct told *told = arg;

	told->sum = sum_of(told->work);
}

static void wait_in_way(enum way way, struct swansong *root, struct told *told)
{
	struct swansong_completion *c;
	struct pollfd p = { .events = POLLIN };

	must(swansong_completion_new(root, &c) == 0, "a completion");
	if (way == NOTIFY) {
		must(swansong_completion_notify(c, look_when_told, told) == 0, "notify");
		while (!told->sum)
			(void)usleep(100);
	}
	if (way == FD) {
		p.fd = swansong_completion_fd(c);
		must(p.fd >= 0 && poll(&p, 1, -1) == 1, "a descriptor");
	}
	while ((way == DONE || way == FD) && !swansong_completion_done(c))
		(void)usleep(100);
	while (way == STATE && swansong_state(root) != SWANSONG_COMPLETE)
		(void)usleep(100);
	if (way == COMPLETION_WAIT)
		must(swansong_completion_wait(c, UINT64_MAX) == 0, "a wait");
	if (way == WAIT || way > NOTIFY)
		must(swansong_wait(root, UINT64_MAX) == 0, "a wait");
	swansong_completion_unref(c);
}

static void hand_over(enum way way)
{
	struct work *work = calloc(WORKERS, sizeof(*work));
	struct swansong *root = new_root(), *child = NULL;
	struct told told = { .work = work };
	pthread_t thread[WORKERS];

	must(work && swansong_child(root, &child) == 0, "a child");
	if (way == RECORDED)
		must(swansong_report_enable(root) == 0, "a report");
	if (way == COUNT_PERCPU)
		must(swansong_percpu_enable(child) == 0, "slots");
	for (int i = 0; i < WORKERS; i++) {
		work[i] = (struct work){ swansong_guard(child), swansong_ref(child), 0 };
		thread[i] = start(work_thread, &work[i]);
	}
	swansong_unref(child); /* a guard alone may keep it */
	swansong_shut_down(root);
	wait_in_way(way, root, &told);
	must(sum_of(work) == WORKERS, "some work is missing");
	free(work);
	swansong_unref(root);
	for (int i = 0; i < WORKERS; i++)
		(void)pthread_join(thread[i], NULL);
}

/* ---- writes before a stop are seen by each thread that sees the stop ---- */

enum sight { ASK, SLEEP, READ, POLL, CALLED, N_SIGHTS };

struct stop {
	enum sight sight;
	struct swansong_interrupt *interrupt;
	int fd;
	int reason; /* written before the stop */
};

static void look_at_reason(void *arg)
{
	must(((struct stop *)arg)->reason == 1, "no reason");
}

static void *stop_thread(void *arg)
{
	struct stop *stop = arg;
	struct pollfd p = { .fd = swansong_interrupt_fd(stop->interrupt), .events = POLLIN };
	char byte;

	switch (stop->sight) {
	case ASK:
		while (!swansong_interrupted(stop->interrupt))
			(void)usleep(100);
		break;
	case SLEEP:
		must(swansong_interrupt_wait(stop->interrupt, UINT64_MAX) == 0, "a wait");
		break;
	case READ:
		must(swansong_interrupt_read(stop->interrupt, stop->fd, &byte, 1) == 0, "a read");
		break;
	case POLL:
		must(poll(&p, 1, -1) == 1, "a descriptor");
		must(swansong_interrupted(stop->interrupt), "no stop");
		break;
	default:
		must(swansong_interrupt_notify(stop->interrupt, look_at_reason, stop) == 0,
		     "notify");
		must(swansong_interrupt_wait(stop->interrupt, UINT64_MAX) == 0, "a wait");
	}
	look_at_reason(stop);
	swansong_interrupt_unref(stop->interrupt);
	return NULL;
}

static void stop_and_see(enum sight sight)
{
	struct swansong *root = new_root();
	struct stop *stop = calloc(1, sizeof(*stop));
	pthread_t thread;
	int pipes[2];

	must(stop && pipe(pipes) == 0, "a pipe");
	*stop = (struct stop){ .sight = sight, .fd = pipes[0] };
	must(swansong_interrupt_new_guarded(root, &stop->interrupt) == 0, "an interrupt");
	thread = start(stop_thread, stop);
	(void)usleep(500);
	stop->reason = 1;
	swansong_shut_down(root);
	must(swansong_wait(root, UINT64_MAX) == 0, "a wait");
	swansong_unref(root);
	(void)pthread_join(thread, NULL);
	free(stop);
	(void)close(pipes[0]);
	(void)close(pipes[1]);
}

/* ---- an object that is destroyed by the thread that has it last, and its node by any ---- */

static void *guarded_thread(void *arg)
{
	struct swansong_guarded guarded = *(struct swansong_guarded *)arg;

	*(int *)guarded.object = 2;
	free(arg);
	swansong_guarded_drop(&guarded);
	return NULL;
}

static void destroy_in_thread(void)
{
	struct swansong *root = new_root(), *child = NULL;
	struct swansong_guarded *guarded = malloc(sizeof(*guarded));
	pthread_t thread;
	int *object = malloc(sizeof(*object));

	must(guarded && object && swansong_child(root, &child) == 0, "an object");
	*object = 1;
	*guarded = swansong_guarded(child, object, free);
	thread = start(guarded_thread, guarded);
	swansong_unref(child);
	swansong_unref(root);
	(void)pthread_join(thread, NULL);
}

/* ---- a loop and a pool ---- */

struct offer {
	int question, answer, told;
};

static void offer_work(void *arg)
{
	struct offer *offer = arg;

	offer->answer = offer->question + 1;
}

static void offer_done(void *arg, int result)
{
	struct offer *offer = arg;

	if (result == 0)
		offer->told = offer->answer;
}

static void offload(void)
{
	struct swansong *root = new_root();
	struct swansong_loop *loop;
	struct swansong_pool *pool;
	struct offer *offer = calloc(3, sizeof(*offer)), *posted = offer + 1, *job = offer + 2;
	struct swansong_offload o = { offer_work, offer_done, NULL, offer };

	must(offer != NULL, "memory");
	offer->question = 1;
	posted->question = 2;
	job->question = 3;
	must(swansong_loop_new(root, &loop) == 0 && swansong_loop_start(loop) == 0, "a loop");
	must(swansong_pool_new(root, 2, &pool) == 0, "a pool");
	must(swansong_pool_submit(pool, offer_work, job) == 0, "a job");
	must(swansong_pool_offload(pool, loop, &o, UINT64_MAX) == 0, "an offload");
	must(swansong_loop_post(loop, offer_work, posted) == 0, "a post");
	must(swansong_pool_wait_idle(pool, UINT64_MAX) == 0, "idle");
	must(job->answer == 4 && offer->answer == 2, "no answer");
	swansong_pool_unref(pool);
	must(swansong_loop_stop(loop) == 0, "the loop");
	must(offer->told == 2 && posted->answer == 3, "nothing was told");
	swansong_loop_unref(loop);
	swansong_unref(root);
	free(offer);
}

/* ---- a registry to which another thread adds ---- */

static int act(void *arg)
{
	must(*(int *)arg == 5, "not what was registered");
	return 0;
}

struct registration {
	struct swansong_registry *registry;
	struct swansong *root;
	int value;
};

static void *registry_thread(void *arg)
{
	struct registration *r = arg;

	r->value = 5;
	must(swansong_registry_add_action(r->registry, "action", act, &r->value) == 0, "an action");
	swansong_shut_down(r->root);
	return NULL;
}

static void register_in_thread(void)
{
	struct registration r = { .root = new_root() };
	pthread_t thread;

	must(swansong_registry_new(&r.registry) == 0, "a registry");
	thread = start(registry_thread, &r);
	must(swansong_stopped_wait(r.root, UINT64_MAX) == 0, "a wait");
	must(swansong_registry_execute(r.registry, UINT64_MAX, NULL, NULL) == 0, "an action");
	(void)pthread_join(thread, NULL);
	swansong_registry_unref(r.registry);
	swansong_unref(r.root);
}

/* ---- no order: a guard is dropped, and no thread looks at the completion ---- */

static void *flawed_thread(void *arg)
{
	struct work *work = arg;

	work->result = 1;
	swansong_guard_drop(&work->guard);
	(void)usleep(20000); /* the sanitizer knows more of a thread that runs */
	return NULL;
}

static void look_too_early(void)
{
	struct swansong *root = new_root();
	struct work *work = calloc(1, sizeof(*work));
	pthread_t thread;

	must(work != NULL, "memory");
	work->guard = swansong_guard(root);
	thread = start(flawed_thread, work);
	(void)usleep(10000);
	(void)printf("%d\n", work->result);
	(void)pthread_join(thread, NULL);
	free(work);
	swansong_unref(root);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--flawed") == 0) {
		for (int round = 0; round < ROUNDS; round++)
			look_too_early();
		return EXIT_SUCCESS;
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (enum way way = 0; way < N_WAYS; way++)
			hand_over(way);
		for (enum sight sight = 0; sight < N_SIGHTS; sight++)
			stop_and_see(sight);
		destroy_in_thread();
		offload();
		register_in_thread();
	}
	return EXIT_SUCCESS;
}
