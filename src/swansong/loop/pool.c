/*
 * A pool is a queue of jobs and the threads that empty it.  All is under one lock, also the stop: a
 * thread ends when it finds the queue empty and the pool stopped, so all accepted jobs are
 * executed.
 *
 * The first other thread that stops the pool joins its threads.  Only the joining is under the lock
 * "control", which the threads of the pool never take.
 */

#include "swansong/base/cancel-private.h"
#include "swansong/count/misuse-private.h"
#include "swansong/loop/pool-private.h"

struct swansong_pool {
	struct swansong *node;
	unsigned int generation; /* constant; fork_generation() at the beginning */

	struct lock lock; /* of jobs, running and stopped */
	struct list jobs; /* jobs that are waiting */
	unsigned int running;
	bool stopped;
	struct condition work; /* changes when a job is added, or the pool is stopped */
	struct condition idle; /* changes when no job is waiting or running */

	struct lock control; /* of the next members, once there are threads */
	unsigned int threads;
	pthread_t thread[];
};

/* The pool that has this thread, or NULL. */
static _Thread_local const struct swansong_pool *own_pool;

/* True in a process that was forked since: it has no threads, and locks may be taken for ever. */
static bool pool_is_foreign(const struct swansong_pool *p)
{
	return p->generation != fork_generation();
}

/* ---- the threads ---- */

static bool pool_is_idle(const struct swansong_pool *p)
{
	return list_is_empty(&p->jobs) && p->running == 0;
}

/* Waits for the next job.  Returns NULL if there will be none. */
static struct post *pool_next(struct swansong_pool *p)
{
	struct post *job = NULL;

	if (pool_is_foreign(p))
		return NULL;
	lock_take(&p->lock);
	while (list_is_empty(&p->jobs) && !p->stopped)
		(void)condition_sleep(&p->work, &p->lock, USEC_INFINITY);
	if (!list_is_empty(&p->jobs)) {
		job = list_entry(p->jobs.next, struct post, link);
		list_remove(&job->link);
		p->running++;
	}
	(void)lock_leave(&p->lock);
	return job;
}

static void pool_run(struct swansong_pool *p, struct post *job)
{
	post_run(job);
	if (pool_is_foreign(p)) /* the job has forked, and this is the child */
		return;

	lock_take(&p->lock);
	p->running--;
	if (pool_is_idle(p))
		condition_wake(&p->idle, INT_MAX);
	(void)lock_leave(&p->lock);
}

static void pool_work(void *arg)
{
	struct swansong_pool *p = arg;
	struct post *job;

	own_pool = p;
	while ((job = pool_next(p)))
		pool_run(p, job);
}

static void *pool_main(void *arg)
{
	CANCEL_DISABLED_SCOPE;

	misuse_call(pool_work, arg);
	return NULL;
}

/* ---- jobs ---- */

int pool_accept(struct swansong_pool *p, struct post *job, int (*also)(struct post *job))
{
	int r = 0;

	if (pool_is_foreign(p))
		return -ESHUTDOWN;
	lock_take(&p->lock);
	if (p->stopped)
		r = -ESHUTDOWN;
	else if (also)
		r = also(job);
	if (r >= 0) {
		post_accept(job, &p->jobs, p->node);
		condition_wake(&p->work, 1);
	}
	(void)lock_leave(&p->lock);
	return r;
}

int swansong_pool_submit_at(struct swansong_pool *p, void (*fn)(void *arg), void *arg,
			    const char *file, unsigned int line, const char *function)
{
	struct post *job = post_new(fn, arg, file, line, function);
	int r = job ? pool_accept(p, job, NULL) : -ENOMEM;

	if (r < 0)
		free(job);
	return r;
}

int swansong_pool_wait_idle(struct swansong_pool *p, uint64_t deadline)
{
	int r = 0;

	if (own_pool == p)
		return -EDEADLK;
	if (pool_is_foreign(p))
		return 0;
	lock_take(&p->lock);
	while (r == 0 && !pool_is_idle(p))
		r = condition_sleep(&p->idle, &p->lock, deadline);
	if (pool_is_idle(p))
		r = 0;
	(void)lock_leave(&p->lock);
	return r;
}

/* ---- life ---- */

static void pool_begin_stop(struct swansong_pool *p)
{
	bool ours;

	if (pool_is_foreign(p)) {
		swansong_shut_down(p->node);
		return;
	}
	lock_take(&p->lock);
	ours = !p->stopped;
	p->stopped = true;
	condition_wake(&p->work, INT_MAX);
	(void)lock_leave(&p->lock);

	if (ours)
		swansong_shut_down(p->node);
}

void swansong_pool_stop(struct swansong_pool *p)
{
	CANCEL_DISABLED_SCOPE; /* joining is with the lock held */

	pool_begin_stop(p);
	if (own_pool == p || pool_is_foreign(p))
		return;

	lock_take(&p->control);
	while (p->threads > 0)
		(void)pthread_join(p->thread[--p->threads], NULL);
	(void)lock_leave(&p->control);
}

static void pool_free(struct swansong_pool *p)
{
	p->node = swansong_unref(p->node);
	free(p);
}

struct swansong_pool *swansong_pool_unref(struct swansong_pool *p)
{
	if (!p)
		return NULL;
	if (own_pool == p) {
		thread_refuse(__func__, "inside of a job of the pool");
		return p;
	}
	swansong_pool_stop(p);
	pool_free(p);
	return NULL;
}

static int pool_start(struct swansong_pool *p, unsigned int threads)
{
	for (; p->threads < threads; p->threads++) {
		int r = thread_start(&p->thread[p->threads], "swansong-pool", pool_main, p);

		if (r < 0)
			return r;
	}
	return 0;
}

static struct swansong_pool *pool_alloc(unsigned int threads)
{
	struct swansong_pool *p = calloc(1, sizeof(*p) + threads * sizeof(p->thread[0]));

	if (!p)
		return NULL;
	p->lock = (struct lock)LOCK_INITIALIZER;
	p->control = (struct lock)LOCK_INITIALIZER;
	p->work = (struct condition)CONDITION_INITIALIZER;
	p->idle = (struct condition)CONDITION_INITIALIZER;
	list_init(&p->jobs);
	p->generation = fork_generation();
	return p;
}

int swansong_pool_new(struct swansong *parent, unsigned int threads, struct swansong_pool **ret)
{
	struct swansong_pool *p;
	int r;

	if (threads == 0) {
		long n = sysconf(_SC_NPROCESSORS_ONLN);

		threads = n > 0 ? (unsigned int)n : 1;
	}
	p = pool_alloc(threads);
	if (!p)
		return -ENOMEM;
	r = parent ? swansong_child(parent, &p->node) : swansong_new(&p->node);
	if (r >= 0)
		r = pool_start(p, threads);
	if (r < 0 && p->node)
		swansong_pool_stop(p); /* the threads that were started */
	if (r < 0) {
		pool_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

struct swansong *swansong_pool_node(struct swansong_pool *p)
{
	return p->node;
}
