#ifndef SWANSONG_REGISTRY_H
#define SWANSONG_REGISTRY_H

/*
 * The work of a program at its end.  Each part of a program registers its share when it is made;
 * the registry does all of it once and in reverse order: it notifies all workers, waits for all
 * workers, and runs the final actions.
 *
 * The registry starts no thread: all functions are called one after the other by
 * swansong_registry_execute() or _advance(), on the thread that calls it, and with no lock held.
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
 * A worker runs until it is notified to stop.  Members that are zero or NULL, except the name, are
 * left out.
 */
struct swansong_worker {
	const char *name; /* for people */
	void *arg;	  /* passed to both; must be valid for as long as the worker runs */

	/* Notifies the worker that it has to stop, and does not wait for it.  0 or -errno. */
	int (*notify)(void *arg);

	/*
	 * Waits for the worker's end until @deadline, an absolute CLOCK_MONOTONIC time in
	 * microseconds, or UINT64_MAX.  If that has passed, it does not wait.  Returns 0,
	 * -ETIMEDOUT if the worker still runs, or another -errno if the worker has failed.
	 */
	int (*join)(void *arg, uint64_t deadline);

	uint64_t timeout; /* microseconds after all have been notified; 0: no limit of its own */
};

/* Creates an empty registry, owned by the caller.  Returns 0 or -ENOMEM. */
int swansong_registry_new(struct swansong_registry **ret);

/*
 * Registers a worker, which is copied, with its name.  May be called from any thread, as may
 * swansong_registry_add_action().
 *
 * Return: 0, -ENOMEM, -EINVAL without a name, or -EALREADY if the registry has been executed, or is
 * just being executed: then the worker is not registered, and the caller has to stop it.
 */
int swansong_registry_add_worker(struct swansong_registry *r, const struct swansong_worker *worker);

/*
 * Registers a final action: @fn(@arg) is called after all workers, also after those that are late,
 * and returns 0 or a negative errno.  The name, for people, is copied.  Returns as
 * swansong_registry_add_worker() does.
 */
int swansong_registry_add_action(struct swansong_registry *r, const char *name,
				 int (*fn)(void *arg), void *arg);

/*
 * Does all that is registered, once: of several calls, on any threads, one executes.  Workers are
 * waited for until @deadline, as in struct swansong_worker.  @on_error, or NULL, is called with
 * @arg for each function that failed, on this thread, before the next one.
 *
 * Calls notify of all workers, then join of all workers, then all actions; each last registered
 * first.  A function that fails is reported, with its negative errno, and stops nothing.  A worker
 * that could not be notified is joined all the same, as it may have been ending by itself.
 *
 * A worker whose join returns -ETIMEDOUT is late.  It is reported as late, by its name, and passed
 * over: the registry does not wait for it any more, and the actions run although it may still be
 * running.  When the deadline has passed, join of each remaining worker is called without waiting.
 * The registry cannot interrupt a function that does not return.
 *
 * Return: the number of functions that failed, or -EALREADY if the registry has been executed, or
 * is just being executed.
 */
int swansong_registry_execute(struct swansong_registry *r, uint64_t deadline,
			      void (*on_error)(void *arg, enum swansong_registry_step step,
					       const char *name, int error),
			      void *arg);

/*
 * Does what is possible without waiting, for an event loop: several calls do what one
 * swansong_registry_execute() does.  The first call notifies all workers.  Each call asks the
 * workers that are left, by join with a deadline that has passed; the call that finds none left
 * runs the actions.  Call it again when a worker may have ended, for example after a function of
 * swansong_completion_notify(), and at @again, the time at which the first of those left is late.
 * One thread may call it at a time, and no function that is registered.
 *
 * Return: -EAGAIN while workers are left; then the number of functions that failed in all calls;
 * -EALREADY if the registry has been executed, or is just being executed.
 */
int swansong_registry_advance(struct swansong_registry *r, uint64_t deadline, uint64_t *again,
			      void (*on_error)(void *arg, enum swansong_registry_step step,
					       const char *name, int error),
			      void *arg);

/*
 * Drops the registry, or does nothing for NULL; functions that have not been called are not called.
 * No other thread may be in a call with the registry.  Returns NULL.
 */
struct swansong_registry *swansong_registry_unref(struct swansong_registry *r);

/* For __attribute__((cleanup(swansong_registry_unrefp))). */
static inline void swansong_registry_unrefp(struct swansong_registry **r)
{
	*r = swansong_registry_unref(*r);
}

SWANSONG_END_DECLARATIONS

#endif
