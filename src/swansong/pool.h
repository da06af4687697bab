#ifndef SWANSONG_POOL_H
#define SWANSONG_POOL_H

/*
 * A pool of threads that execute jobs, and the way to have work done there on behalf of an event
 * loop (swansong/loop.h) with a timeout.
 *
 * The pool has a node.  Every job holds a guard on it from its acceptance until it is done;
 * offloaded work holds a guard until no thread will touch its object any more, however late the
 * work ends.  So "drain before destroying" is waiting for the node, or for a node above it: once
 * that is complete, nothing that the pool was given is left, on no thread.  Stopping the node from
 * above does not stop the pool, which is needed to finish the work that has begun; its owner stops
 * it.
 *
 * All functions may be called from any thread, also from a job, and none from a signal handler.
 * Jobs run on the threads of the pool, begun in the order of their acceptance.  All signals are
 * blocked there.
 */

#include <stdint.h>

#include <swansong/declare.h>
#include <swansong/loop.h>
#include <swansong/node.h>

SWANSONG_BEGIN_DECLARATIONS

struct swansong_pool;

/*
 * Creates a pool, owned by the caller, of @threads threads, or of as many as there are processors
 * if that is 0, and starts them.  Its node becomes a child of @parent, or a root if that is NULL.
 *
 * Return: 0, -ENOMEM, or -EAGAIN if so many threads cannot be started.
 */
int swansong_pool_new(struct swansong *parent, unsigned int threads, struct swansong_pool **ret);

/*
 * Has the job @fn(@arg) executed: once if this returns 0, otherwise never.
 *
 * Return: 0, -ESHUTDOWN after the stop of the pool, or -ENOMEM.
 */
#define swansong_pool_submit(...) swansong_pool_submit_at(__VA_ARGS__, __FILE__, __LINE__, __func__)

/* The function behind the macro; the last three parameters are as in swansong_loop_post_at(). */
int swansong_pool_submit_at(struct swansong_pool *p, void (*fn)(void *arg), void *arg,
			    const char *file, unsigned int line, const char *function);

/* Functions to be called for a loop; the struct is copied. */
struct swansong_offload {
	/*
	 * Called on a thread of the pool; not called if the result was reported before it began.
	 */
	void (*work)(void *arg);

	/*
	 * Called on the loop's thread, once, in every case.  Reports the result:
	 *
	 *	0		the work is done
	 *	-ETIMEDOUT	the work was not done in time
	 *	-ESHUTDOWN	the work was not done when the loop ended
	 *	-errno		the timeout could not be set
	 *
	 * If it is not 0, the work may be running: @arg is shared with it then.
	 */
	void (*done)(void *arg, int result);

	/*
	 * Called last, once, on either thread: none of the other functions is running or will be
	 * called.  May be NULL.
	 */
	void (*release)(void *arg);

	void *arg; /* passed to each of them */
};

/*
 * Has work done by the pool for @loop, which gets the result, within @timeout_usec microseconds
 * from now, or without a limit if that is UINT64_MAX.  The loop may be stopped and dropped before
 * the work ends.  No function of @o is called unless this returns 0.
 *
 * Return: 0, -ESHUTDOWN if the pool is stopped or the loop is not running, or -ENOMEM.
 */
#define swansong_pool_offload(...) \
	swansong_pool_offload_at(__VA_ARGS__, __FILE__, __LINE__, __func__)

/* The function behind the macro; the last three parameters are as in swansong_loop_post_at(). */
int swansong_pool_offload_at(struct swansong_pool *p, struct swansong_loop *loop,
			     const struct swansong_offload *o, uint64_t timeout_usec,
			     const char *file, unsigned int line, const char *function);

/*
 * Blocks until no job is waiting or running, or until the deadline, as swansong_completion_wait()
 * has it.  Offloaded work that has timed out counts as a job.  All results have been posted to
 * their loops then, but may not be reported yet: for that, wait for the node.
 *
 * Return: 0, -ETIMEDOUT if the deadline passed first, or -EDEADLK from inside of a job of the pool.
 */
int swansong_pool_wait_idle(struct swansong_pool *p, uint64_t deadline);

/*
 * Executes the accepted jobs, then ends the threads.  Jobs are refused from the first moment on.
 * Then the node is stopped, and this waits until all accepted jobs are executed and the threads
 * have ended; inside of a job of the pool it returns at once.  Any number of threads may call it,
 * at any time.
 */
void swansong_pool_stop(struct swansong_pool *p);

/*
 * Stops the pool as swansong_pool_stop() does, and frees it; does nothing for NULL.  Returns NULL.
 * Some results may not be reported yet; the pool is not needed for that.
 *
 * A job cannot wait for its own end.  Inside of a job of the pool the call is refused: it reports
 * that on standard error, changes nothing and returns @p, which still has to be dropped elsewhere.
 */
struct swansong_pool *swansong_pool_unref(struct swansong_pool *p);

/* Returns the pool's node; it is valid as long as the pool, unless the caller takes a reference. */
struct swansong *swansong_pool_node(struct swansong_pool *p);

/* For __attribute__((cleanup(swansong_pool_unrefp))). */
static inline void swansong_pool_unrefp(struct swansong_pool **p)
{
	*p = swansong_pool_unref(*p);
}

SWANSONG_END_DECLARATIONS

#endif
