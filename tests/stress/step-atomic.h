#pragma once

/*
 * The lower part of src/swansong/base/atomic-private.h in a build with SWANSONG_STEP.  Each operation
 * stands between two calls of the test, which may let another thread run there; the test alone
 * sleeps, and the test alone knows which thread runs.
 */

#include "base/std.h"

#ifndef SWANSONG_NO_INLINE
#error "inline functions of public headers cannot be stepped"
#endif
void swansong_step(const volatile void *address); /* before an operation on @address */
void swansong_stepped(void);			  /* after it */
int swansong_step_sleep(const _Atomic uint32_t *word, uint32_t value);
void swansong_step_wake(const _Atomic uint32_t *word);
pthread_t swansong_step_self(void);
#define SHARED(p, order, operation)                   \
	({                                            \
		swansong_step(p);                     \
		__typeof__(operation) r_ = operation; \
		swansong_stepped();                   \
		r_;                                   \
	})
#define SHARED_DO(p, order, operation) \
	({                             \
		swansong_step(p);      \
		operation;             \
		swansong_stepped();    \
	})

/* Each run of a test is the same: the test itself and each of its threads have a processor. */
static inline unsigned int processor_number(void)
{
	return (unsigned int)swansong_step_self() + 1;
}

static inline unsigned int processor_count(void)
{
	return 3;
}

static inline int futex_sleep(_Atomic uint32_t *word, uint32_t value, uint64_t deadline)
{
	(void)deadline;
	return swansong_step_sleep(word, value);
}

static inline bool futex_wake(_Atomic uint32_t *word, int threads)
{
	(void)threads;
	swansong_step_wake(word);
	return true;
}

static inline pthread_t thread_self(void)
{
	return swansong_step_self();
}
