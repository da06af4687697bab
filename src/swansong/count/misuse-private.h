#pragma once

/*
 * Mistakes of a program that it cannot recover from.
 *
 * With SWANSONG_DEBUG, which configure --enable-debug sets for the shared library, each such
 * mistake ends the program with a line on standard error.  To detect them, the guards of every tree
 * are recorded, and the memory of nodes is never freed.  Without it this module does nothing.
 */

#include "swansong/base/thread-private.h"
#include "swansong/count/object-private.h"

#ifdef SWANSONG_DEBUG
#define MISUSE_IS_CAUGHT 1
#else
#define MISUSE_IS_CAUGHT 0
#endif

_Noreturn void misuse_end(const char *function, const char *mistake);

/* Calls @fn(@arg), which has to return; see thread_call(). */
static inline void misuse_call(void (*fn)(void *arg), void *arg)
{
	if (MISUSE_IS_CAUGHT)
		thread_call(fn, arg);
	else
		fn(arg);
}

/* Ends the program if @mistaken; for public functions. */
#define misuse_if(mistaken, mistake) misuse_if_in(__func__, mistaken, mistake)
#define misuse_if_in(function, mistaken, mistake)        \
	do {                                             \
		if (MISUSE_IS_CAUGHT && (mistaken))      \
			misuse_end(function, (mistake)); \
	} while (0)

/* Ends the program if @s is NULL or has no reference: a caller that passes a node must have one. */
#define misuse_of_node(s) misuse_of_node_in(s, __func__)
#define misuse_of_node_in(s, function)                                       \
	do {                                                                 \
		misuse_if_in(function, !(s), "there is no node");            \
		misuse_if_in(function, !shared_load(&(s)->handles, relaxed), \
			     "there is no reference to the node any more");  \
	} while (0)

/* Ends the program if @object has been dropped; its memory is not given back then. */
#define misuse_of_dropped(is_dropped) misuse_if(is_dropped, "it was dropped before")

/*
 * Makes this thread the taker of the guard on @s with that record, which was handed on to it.  The
 * other library calls it, too.
 */
void swansong_guard_adopt_(struct swansong *s, unsigned int record)
	__attribute__((visibility("default")));

static inline void misuse_adopt(struct swansong *s, uint32_t record)
{
	if (MISUSE_IS_CAUGHT)
		swansong_guard_adopt_(s, record);
}

/*
 * Returns @wait(@arg, @deadline), which is 0 or -ETIMEDOUT, for @function, which waits for the end
 * of @s.  If that takes long, and this thread has taken a guard in the subtree that is still held,
 * it reports so: unless another thread drops that guard, the wait never ends.
 */
int misuse_wait(int (*wait)(void *arg, uint64_t deadline), void *arg, uint64_t deadline,
		struct swansong *s, const char *function);
