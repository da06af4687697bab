#ifndef SWANSONG_REGISTRY_H
#define SWANSONG_REGISTRY_H

/*
 * What a program has to do at its end, registered where each part is made, done once and in reverse
 * order: notify all workers, wait for all of them, run the final actions.
 *
 * The registry starts no thread: all functions are called one after the other by
 * swansong_registry_execute(), on the thread that calls it, and with no lock held.
 */

#include <stdint.h>

#include <swansong/declare.h>

SWANSONG_BEGIN_DECLARATIONS

struct swansong_registry;

enum swansong_registry_step {
	SWANSONG_REGISTRY_NOTIFY,
	SWANSONG_REGISTRY_JOIN,
	SWANSONG_REGISTRY_ACT,
};

/*
 * Something that runs until it is told to stop.  What is zero or NULL, but the name, is left out.
 */
struct swansong_worker {
	const char *name; /* for people */
	void *arg;	  /* passed to both; must be valid for as long as the worker runs */

	/* Tells the worker to stop, and does not wait for it.  0 or a negative errno. */
	int (*notify)(void *arg);

	/*
	 * Waits for the worker's end, until @deadline, an absolute CLOCK_MONOTONIC time in
	 * microseconds, or UINT64_MAX.  If that has passed, it only asks.  0, -ETIMEDOUT if it
	 * still runs, or another negative errno if it has failed.
	 */
	int (*join)(void *arg, uint64_t deadline);

	uint64_t timeout; /* microseconds from when all have been notified; 0: none of its own */
};

/* Hands an empty registry to the caller, who owns it.  0 or -ENOMEM. */
int swansong_registry_new(struct swansong_registry **ret);

/**
 * swansong_registry_add_worker() - register a worker
 * @r:		the registry
 * @worker:	copied, with its name
 *
 * May be called from any thread, as may swansong_registry_add_action().
 *
 * Return: 0, -ENOMEM, -EINVAL without a name, or -EALREADY if the registry has been executed, or
 * is just being: then the worker is not registered, and is the caller's to stop.
 */
int swansong_registry_add_worker(struct swansong_registry *r, const struct swansong_worker *worker);

/**
 * swansong_registry_add_action() - register a final action
 * @r:		the registry
 * @name:	for people; copied
 * @fn:		called after all workers, also after those that are late; 0 or a negative errno
 * @arg:	passed to @fn
 *
 * Return: as swansong_registry_add_worker().
 */
int swansong_registry_add_action(struct swansong_registry *r, const char *name,
				 int (*fn)(void *arg), void *arg);

/**
 * swansong_registry_execute() - do all that is registered, once
 * @r:		the registry, which is consumed: of those who call this, from any thread, one
 *		executes
 * @deadline:	the time until which workers are waited for, as in struct swansong_worker
 * @on_error:	called for each function that failed, on this thread, before the next one; or NULL
 * @arg:	passed to @on_error
 *
 * Calls notify of all workers, then join of all workers, then all actions; each last registered
 * first.  What fails is reported, with its negative errno, and stops nothing.  A worker that could
 * not be notified is joined all the same, as it may have been ending by itself.
 *
 * A worker whose join returns -ETIMEDOUT is late.  It is reported so, by its name, and passed over:
 * nobody waits for it any more, and the actions run although it may still be running.  When the
 * deadline has passed, the workers that are left are only asked.  The registry cannot cut off a
 * function that does not come back.
 *
 * Return: the number of functions that failed, or -EALREADY if the registry has been executed, or
 * is just being.
 */
int swansong_registry_execute(struct swansong_registry *r, uint64_t deadline,
			      void (*on_error)(void *arg, enum swansong_registry_step step,
					       const char *name, int error),
			      void *arg);

/*
 * Drops the registry, or does nothing for NULL; what has not been executed is not done.  Nobody may
 * be in a call with it.  Returns NULL.
 */
struct swansong_registry *swansong_registry_unref(struct swansong_registry *r);

/* For __attribute__((cleanup(swansong_registry_unrefp))). */
static inline void swansong_registry_unrefp(struct swansong_registry **r)
{
	*r = swansong_registry_unref(*r);
}

SWANSONG_END_DECLARATIONS

#endif
