#ifndef SWANSONG_LOOP_H
#define SWANSONG_LOOP_H

/*
 * An event loop on a thread of its own, to which functions are posted.  It is an sd_event
 * (sd-event(3)) with a stop that loses nothing: a function is accepted and executed, or refused and
 * not executed; there is no third case.
 *
 *	              start            (the thread is there)
 *	    Idle ──────────────▶ Starting ──────────────▶ Running
 *	     │                       │                       │ stop
 *	     │ stop                  └────────▶ Stopping ◀───┘
 *	     │                                     │ (drained, the thread is done)
 *	     └──────────────────────────────────▶ Stopped
 *
 * The loop has a node.  Every accepted post holds a guard on it until the post has been executed.
 * The stop of the loop stops the node, and the node is complete when the stopped loop has executed
 * its last function: completions of the node report that.  The other way round nothing is forced:
 * when the node is stopped from above, the loop goes on and accepts posts, as it is needed to
 * finish the work that has begun.  Its owner stops it.
 *
 * Threads: swansong_loop_post(), _start(), _stop(), _state() and _node() may be called from any
 * thread, and from the functions that are posted; for swansong_loop_event() see below.  A signal
 * handler may only call swansong_loop_state().
 *
 * Coalescing: wake-ups coalesce, posts do not.  Each post is executed, once, in the order in which
 * posts were accepted.  A post that is made while posts are executed comes after one round of the
 * event loop, so that posts do not starve its sources.
 *
 * Functions that are posted, and callbacks of the sd_event, run on the loop's thread and nowhere
 * else, also while it is stopping.  All signals are blocked there.
 */

#include <swansong/declare.h>
#include <swansong/node.h>

SWANSONG_BEGIN_DECLARATIONS

struct sd_event;
struct swansong_loop;

enum swansong_loop_state {
	SWANSONG_LOOP_IDLE,	/* not started: refuses posts */
	SWANSONG_LOOP_STARTING, /* its thread does not run yet: refuses posts */
	SWANSONG_LOOP_RUNNING,	/* accepts posts */
	SWANSONG_LOOP_STOPPING, /* executes accepted posts: refuses posts */
	SWANSONG_LOOP_STOPPED,	/* nothing will be executed any more: refuses posts */
};

/*
 * Creates a loop, owned by the caller, which is not started.  Its node becomes a child of @parent,
 * or a root if that is NULL.  Returns 0, or -errno: -ENOMEM, or an error because no descriptor was
 * free.
 */
int swansong_loop_new(struct swansong *parent, struct swansong_loop **ret);

/*
 * Starts the thread.  When this returns 0 the loop is running, unless it is stopped already.
 *
 * Return: 0, -EALREADY if it was started before, -ESHUTDOWN if it was stopped, or the -errno for
 * which no thread could be started: the loop is idle again then.
 */
int swansong_loop_start(struct swansong_loop *l);

/*
 * Has @fn(@arg) called on the loop's thread: once if this returns 0, otherwise never.
 *
 * Return: 0, -ESHUTDOWN if the loop is not running, or -ENOMEM.
 */
#define swansong_loop_post(...) swansong_loop_post_at(__VA_ARGS__, __FILE__, __LINE__, __func__)

/*
 * The function behind the macro.  The last three parameters are the place in the program that the
 * post comes from, for the report, as in swansong_guard_at().
 */
int swansong_loop_post_at(struct swansong_loop *l, void (*fn)(void *arg), void *arg,
			  const char *file, unsigned int line, const char *function);

/*
 * Executes the accepted posts, then ends the thread.  Posts are refused from the first moment on.
 * Then the node is stopped, all accepted posts are executed, the exit sources of the sd_event
 * (sd_event_add_exit(3)) are dispatched, and the thread ends.  This function waits for all of it.
 * On the loop's own thread it returns at once, and the loop ends after the function that called it
 * and after all posts that were accepted before.
 *
 * Any number of threads may call it, at any time, also while the loop is starting; each call
 * returns when the thread has ended.  An idle loop is stopped at once.  A callback that calls
 * sd_event_exit(3) stops the loop, too.
 *
 * Return: 0, or the -errno with which the sd_event itself failed and ended the loop.
 */
int swansong_loop_stop(struct swansong_loop *l);

/*
 * Stops the loop as swansong_loop_stop() does, waits for the end of its thread, and frees it; does
 * nothing for NULL.  Returns NULL.
 *
 * The loop's own thread cannot wait for its end.  There the call is refused: it reports that on
 * standard error, changes nothing and returns @l, which still has to be dropped elsewhere.
 */
struct swansong_loop *swansong_loop_unref(struct swansong_loop *l);

/* Returns the state of the loop at this moment: one atomic load. */
enum swansong_loop_state swansong_loop_state(const struct swansong_loop *l);

/* Returns the loop's node; it is valid as long as the loop, unless the caller takes a reference. */
struct swansong *swansong_loop_node(struct swansong_loop *l);

/*
 * Returns the loop's sd_event, to add sources to.  An sd_event is not for several threads: use it
 * before the start, or on the loop's thread.  It is valid as long as the loop.
 */
struct sd_event *swansong_loop_event(struct swansong_loop *l);

/* For __attribute__((cleanup(swansong_loop_unrefp))). */
static inline void swansong_loop_unrefp(struct swansong_loop **l)
{
	*l = swansong_loop_unref(*l);
}

SWANSONG_END_DECLARATIONS

#endif
