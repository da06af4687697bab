#ifndef SWANSONG_INTERRUPT_H
#define SWANSONG_INTERRUPT_H

/*
 * An interrupt sees the stop of its node.  It delays nothing: neither the end of the node nor any
 * completion waits for it, unless it was made with a guard.  It is also interrupted once its node
 * is gone, which is when no reference, guard, completion or live child of the node is left.
 *
 * All functions may be called from any thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include <swansong/declare.h>
#include <swansong/guard.h>
#include <swansong/node.h>

SWANSONG_BEGIN_DECLARATIONS

struct swansong_interrupt;

/*
 * Creates an interrupt, owned by the caller, on the node @s, which it does not keep alive.  Returns
 * 0 or -ENOMEM.
 */
int swansong_interrupt_new(struct swansong *s, struct swansong_interrupt **ret);

/*
 * Does the same, and holds a guard on @s until swansong_interrupt_unref(): after the stop, the
 * program has time to come to its end, and completion waits for that.  Returns 0 or -ENOMEM.
 */
#define swansong_interrupt_new_guarded(s, ret) \
	swansong_interrupt_new_guarded_at((s), (ret), __FILE__, __LINE__, __func__)

/* The function behind the macro; see swansong_guard_at(). */
int swansong_interrupt_new_guarded_at(struct swansong *s, struct swansong_interrupt **ret,
				      const char *file, unsigned int line, const char *function);

/*
 * Returns true if the node has been stopped or is gone; from then on it never returns false.  It is
 * one atomic load, which is inlined where guards are (swansong/guard.h): of a word at a fixed place
 * of the node, to which the interrupt points first.
 */
bool swansong_interrupted(const struct swansong_interrupt *i);

#ifdef SWANSONG_INLINE_
#define SWANSONG_STOPPED_(i) \
	((const uint32_t *)(const void *)(*(const char *const *)(const void *)(i) + 4))

SWANSONG_INLINE_ bool swansong_interrupted(const struct swansong_interrupt *i)
{
	return __atomic_load_n(SWANSONG_STOPPED_(i), __ATOMIC_ACQUIRE) & 1;
}
#endif

/*
 * Blocks until the node has been stopped or is gone, or until @deadline, an absolute
 * CLOCK_MONOTONIC time in microseconds, or UINT64_MAX to wait for ever.  Returns 0, or -ETIMEDOUT
 * if the deadline passed first.
 */
int swansong_interrupt_wait(struct swansong_interrupt *i, uint64_t deadline);

/*
 * Returns a descriptor that is readable once the interrupt is interrupted, the same each time, or
 * -errno.  Poll it, but do not read from it.  It is closed by swansong_interrupt_unref().
 */
int swansong_interrupt_fd(struct swansong_interrupt *i);

/*
 * Has @fn(@arg) called once, when the interrupt is interrupted: on the thread that stops the node,
 * before the functions of completions that the stop resolves; or on the thread that drops the last
 * thing that keeps the node; or, if the interrupt is interrupted already, by this function before
 * it returns.  No lock of the library is held: @fn may use the library, also to drop the interrupt.
 * After swansong_interrupt_unref() @fn is not called any more, and is not running: if another
 * thread is in it, unref() waits for its end.
 *
 * Return: 0, -EALREADY if the interrupt has a function, or -ENOMEM.
 */
int swansong_interrupt_notify(struct swansong_interrupt *i, void (*fn)(void *arg), void *arg);

/*
 * Limits the calls that have no deadline of their own; at first the limit is UINT64_MAX.  A call of
 * swansong/interrupt-io.h that would wait after the deadline returns -ETIMEDOUT, and nothing is
 * lost.  For a limit of idle time, set it before each call to swansong_deadline_in(30 * 1000000).
 * A wait that has begun keeps its deadline.
 */
void swansong_interrupt_set_deadline(struct swansong_interrupt *i, uint64_t deadline);

/*
 * Drops the interrupt, with its guard if it is guarded, or does nothing for NULL.  Returns NULL.
 * No other thread may be in a call with the interrupt.
 */
struct swansong_interrupt *swansong_interrupt_unref(struct swansong_interrupt *i);

/* Blocks until the node @s has been stopped, and does not wait for guards.  0 or -ETIMEDOUT. */
int swansong_stopped_wait(struct swansong *s, uint64_t deadline);

/*
 * Returns a descriptor that is readable once the node @s has been stopped, or -errno.  It belongs
 * to the node and is the same for every caller; it is valid as long as the caller's reference.
 */
int swansong_stopped_fd(struct swansong *s);

/* For __attribute__((cleanup(swansong_interrupt_unrefp))). */
static inline void swansong_interrupt_unrefp(struct swansong_interrupt **i)
{
	*i = swansong_interrupt_unref(*i);
}

SWANSONG_END_DECLARATIONS

#endif
