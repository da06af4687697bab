/*
 * Workers and actions are two stacks, so that they come off in reverse order.  The thread that
 * executes takes both of them away, under the lock, and leaves the registry closed; after that they
 * are its own.
 */
#include <swansong/registry.h>

#include "swansong/base/cancel-private.h"
#include "swansong/base/lock-private.h"

/* An entry of a stack: a worker, or an action. */
struct entry {
	struct entry *below;
	struct swansong_worker worker; /* the entry owns its name */
	int (*act)(void *arg);
	char name[];
};

struct swansong_registry {
	struct lock lock;
	bool closed;
	struct entry *workers, *actions; /* the last one on top */

	/* Of the thread that advances: the entries that are left after the registry was closed. */
	bool advances;
	struct entry *running, *final;
	uint64_t since;
	int failed;
};

struct execution {
	void (*on_error)(void *arg, enum swansong_registry_step step, const char *name, int error);
	void *arg;
	int failed;
};

int swansong_registry_new(struct swansong_registry **ret)
{
	struct swansong_registry *r = malloc(sizeof(*r));

	if (!r)
		return -ENOMEM;
	*r = (struct swansong_registry){ .lock = LOCK_INITIALIZER };
	*ret = r;
	return 0;
}

static int registry_push(struct swansong_registry *r, struct entry **stack,
			 const struct swansong_worker *worker, int (*act)(void *arg))
{
	size_t size = strlen(worker->name) + 1;
	struct entry *e = malloc(sizeof(*e) + size);
	bool closed;

	if (!e)
		return -ENOMEM;
	*e = (struct entry){ .worker = *worker, .act = act };
	e->worker.name = memcpy(e->name, worker->name, size);
	lock_take(&r->lock);
	closed = r->closed;
	if (!closed) {
		e->below = *stack;
		*stack = e;
	}
	(void)lock_leave(&r->lock);

	if (!closed)
		return 0;
	free(e);
	return -EALREADY;
}

int swansong_registry_add_worker(struct swansong_registry *r, const struct swansong_worker *worker)
{
	if (!worker->name)
		return -EINVAL;
	return registry_push(r, &r->workers, worker, NULL);
}

int swansong_registry_add_action(struct swansong_registry *r, const char *name,
				 int (*fn)(void *arg), void *arg)
{
	struct swansong_worker action = { .name = name, .arg = arg };

	if (!name || !fn)
		return -EINVAL;
	return registry_push(r, &r->actions, &action, fn);
}

static void registry_note_step(struct execution *x, enum swansong_registry_step step,
			       const struct entry *e, int result)
{
	if (result >= 0)
		return;
	x->failed++;
	if (x->on_error)
		x->on_error(x->arg, step, e->name, result);
}

static void registry_notify_workers(struct execution *x, const struct entry *top)
{
	for (const struct entry *e = top; e; e = e->below)
		if (e->worker.notify)
			registry_note_step(x, SWANSONG_REGISTRY_NOTIFY, e,
					   e->worker.notify(e->worker.arg));
}

/* Returns the time until which the worker @e is waited for, if all were notified at @since. */
static uint64_t registry_limit(const struct entry *e, uint64_t since, uint64_t deadline)
{
	return e->worker.timeout ? MIN(clock_add(since, e->worker.timeout), deadline) : deadline;
}

static void registry_join_workers(struct execution *x, const struct entry *top, uint64_t deadline)
{
	uint64_t since = clock_now_usec();

	for (const struct entry *e = top; e; e = e->below) {
		uint64_t limit = registry_limit(e, since, deadline);

		if (e->worker.join)
			registry_note_step(x, SWANSONG_REGISTRY_JOIN, e,
					   e->worker.join(e->worker.arg, limit));
	}
}

/*
 * Takes off the workers that have ended or are late.  Returns the time at which the first of the
 * others is late.
 */
static uint64_t registry_ask_workers(struct execution *x, struct swansong_registry *r,
				     uint64_t deadline)
{
	uint64_t first = UINT64_MAX;
	struct entry **top = &r->running, *e;

	while ((e = *top)) {
		uint64_t limit = registry_limit(e, r->since, deadline);
		bool late = clock_now_usec() >= limit;
		int result = e->worker.join ? e->worker.join(e->worker.arg, 0) : 0;

		if (result == -ETIMEDOUT && !late) {
			first = MIN(first, limit);
			top = &e->below;
			continue;
		}
		registry_note_step(x, SWANSONG_REGISTRY_JOIN, e, result);
		*top = e->below;
		free(e);
	}
	return first;
}

static void registry_run_actions(struct execution *x, const struct entry *top)
{
	for (const struct entry *e = top; e; e = e->below)
		registry_note_step(x, SWANSONG_REGISTRY_ACT, e, e->act(e->worker.arg));
}

static void registry_free_entries(struct entry *top)
{
	while (top) {
		struct entry *e = top;

		top = e->below;
		free(e);
	}
}

/* Closes the registry and takes the stacks away.  Returns false if it was closed before. */
static bool registry_close(struct swansong_registry *r, struct entry **workers,
			   struct entry **actions)
{
	bool closed;

	lock_take(&r->lock);
	closed = r->closed;
	r->closed = true;
	*workers = r->workers;
	*actions = r->actions;
	r->workers = r->actions = NULL;
	(void)lock_leave(&r->lock);
	return !closed;
}

int swansong_registry_execute(struct swansong_registry *r, uint64_t deadline,
			      void (*on_error)(void *arg, enum swansong_registry_step step,
					       const char *name, int error),
			      void *arg)
{
	CANCEL_DISABLED_SCOPE; /* the rest would be lost */
	struct execution x = { .on_error = on_error, .arg = arg };
	struct entry *workers, *actions;

	if (!registry_close(r, &workers, &actions))
		return -EALREADY;
	registry_notify_workers(&x, workers);
	registry_join_workers(&x, workers, deadline);
	registry_run_actions(&x, actions);
	registry_free_entries(workers);
	registry_free_entries(actions);
	return x.failed;
}

int swansong_registry_advance(struct swansong_registry *r, uint64_t deadline, uint64_t *again,
			      void (*on_error)(void *arg, enum swansong_registry_step step,
					       const char *name, int error),
			      void *arg)
{
	CANCEL_DISABLED_SCOPE;
	struct execution x = { .on_error = on_error, .arg = arg, .failed = r->failed };
	uint64_t first;

	if (!r->advances) {
		if (!registry_close(r, &r->running, &r->final))
			return -EALREADY;
		r->advances = true;
		registry_notify_workers(&x, r->running);
		r->since = clock_now_usec();
	}
	first = registry_ask_workers(&x, r, deadline);
	r->failed = x.failed;
	if (r->running) {
		*again = first;
		return -EAGAIN;
	}
	registry_run_actions(&x, r->final);
	registry_free_entries(r->final);
	r->final = NULL;
	r->advances = false;
	return x.failed;
}

struct swansong_registry *swansong_registry_unref(struct swansong_registry *r)
{
	struct entry *workers, *actions;

	if (!r)
		return NULL;
	(void)registry_close(r, &workers, &actions);
	registry_free_entries(workers);
	registry_free_entries(actions);
	registry_free_entries(r->running);
	registry_free_entries(r->final);
	return free_memory(r);
}
