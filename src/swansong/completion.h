#ifndef SWANSONG_COMPLETION_H
#define SWANSONG_COMPLETION_H

/*
 * A completion resolves when its node is complete: stopped, and no guard held in its subtree.  Once
 * resolved it stays so, also if guards are taken later.  Creating one does not stop the node.
 *
 * A completion keeps the state of its node alive, but is not a reference: dropping the last
 * reference to a root stops it although a completion is left.  Everything done under the
 * guards happens before the completion is seen as resolved.
 *
 * All functions may be called from any thread, also from a callback.
 */

#include <stdbool.h>
#include <stdint.h>

#include <swansong/declare.h>
#include <swansong/node.h>

SWANSONG_BEGIN_DECLARATIONS

struct swansong_completion;

/*
 * Creates a completion, owned by the caller, of the node @s; it is resolved already if the node is
 * complete.  Returns 0 or -ENOMEM.
 */
int swansong_completion_new(struct swansong *s, struct swansong_completion **ret);

/* Returns true if the completion has resolved. */
bool swansong_completion_done(struct swansong_completion *c);

/*
 * Blocks until the completion has resolved, or until @deadline, an absolute CLOCK_MONOTONIC time in
 * microseconds, or UINT64_MAX to wait for ever.  Any number of threads may wait; none of them may
 * hold a guard of the subtree.  Returns 0, or -ETIMEDOUT if the deadline passed first.
 */
int swansong_completion_wait(struct swansong_completion *c, uint64_t deadline);

/*
 * Returns a descriptor that is readable once the completion has resolved, the same each time, or
 * -errno.  Poll it, but do not read from it.  It is closed by swansong_completion_unref().
 */
int swansong_completion_fd(struct swansong_completion *c);

/*
 * Has @fn(@arg) called once, when the completion resolves: on the thread that completes the node,
 * by dropping the last guard or by stopping it; if the completion has resolved already, by this
 * function before it returns.  No lock of the library is held: @fn may use the library, also to
 * drop the completion.
 *
 * Return: 0, or -EALREADY if the completion has a function.
 */
int swansong_completion_notify(struct swansong_completion *c, void (*fn)(void *arg), void *arg);

/*
 * Drops the completion, or does nothing for NULL.  Returns NULL.  When this returns, its function
 * will not be called any more, and is not running: if another thread is in it, this waits for its
 * end.  Inside of the function itself it does not wait.
 */
struct swansong_completion *swansong_completion_unref(struct swansong_completion *c);

/*
 * Waits as swansong_completion_wait() does for a completion of @s, but allocates nothing.  Returns
 * 0 or -ETIMEDOUT.
 */
int swansong_wait(struct swansong *s, uint64_t deadline);

/*
 * Stops @soft, which ends new work, and waits until @soft is complete, at most until the deadline.
 * Then stops @hard, which cuts work that is left.  @soft is a child of @hard, and all work holds
 * guards on @soft, or below it.  See libswansong(3), "Two phases".
 *
 * Return: 0 if all work has ended, or -ETIMEDOUT if some is cut: wait for @hard then.
 */
int swansong_drain(struct swansong *soft, struct swansong *hard, uint64_t deadline);

/* For __attribute__((cleanup(swansong_completion_unrefp))). */
static inline void swansong_completion_unrefp(struct swansong_completion **c)
{
	*c = swansong_completion_unref(*c);
}

SWANSONG_END_DECLARATIONS

#endif
