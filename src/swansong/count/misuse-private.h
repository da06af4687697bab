#pragma once

/*
 * Mistakes of a program from which there is no way on.  Built with SWANSONG_DEBUG, which is what
 * configure --enable-debug makes of the shared library, each of them ends the program with a line
 * on standard error; and so that they can be seen, the guards of every tree are recorded, and
 * memory of nodes is never given back.  Otherwise nothing of this is there.
 */

#include "swansong/count/object-private.h"

#ifdef SWANSONG_DEBUG
#define MISUSE_IS_CAUGHT 1
#else
#define MISUSE_IS_CAUGHT 0
#endif

_Noreturn void misuse_end(const char *function, const char *mistake);

/* To be used in a public function. */
#define misuse_if(mistaken, mistake)                     \
	do {                                             \
		if (MISUSE_IS_CAUGHT && (mistaken))      \
			misuse_end(__func__, (mistake)); \
	} while (0)

/* Who passes a node has a reference to it. */
#define misuse_of_node(s)                                                           \
	do {                                                                        \
		misuse_if(!(s), "there is no node");                                \
		misuse_if(MISUSE_IS_CAUGHT && !shared_load(&(s)->handles, relaxed), \
			  "there is no reference to the node any more");            \
	} while (0)

/* The guard on @s whose record this is was handed on to this thread; for the other library, too. */
void swansong_guard_adopt_(struct swansong *s, unsigned int record)
	__attribute__((visibility("default")));

static inline void misuse_adopt(struct swansong *s, uint32_t record)
{
	if (MISUSE_IS_CAUGHT)
		swansong_guard_adopt_(s, record);
}

/*
 * Returns @wait(@arg, @deadline), which is 0 or -ETIMEDOUT, for @function, which waits for the end of
 * @s.  If that takes long and this thread has taken a guard of the subtree that is held still, it
 * says so: unless another thread drops that, this is for ever.
 */
int misuse_wait(int (*wait)(void *arg, uint64_t deadline), void *arg, uint64_t deadline,
		struct swansong *s, const char *function);
