#pragma once

/*
 * The atomic operations and the sleeps of the library; for locks see lock-private.h.
 *
 * Each operation is reported to ThreadSanitizer (sanitizer-private.h).  A test build can step them:
 * SWANSONG_STEP puts those of the test in their place (tests/stress/step-atomic.h).
 *
 * There are no fences: ThreadSanitizer does not see them.
 */

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "swansong/base/sanitizer-private.h"

#ifdef SWANSONG_STEP
#include "tests/stress/step-atomic.h"
#else

#define SHARED(p, order, operation)                   \
	({                                            \
		SANITIZER_BEFORE_##order(p);          \
		__typeof__(operation) r_ = operation; \
		SANITIZER_AFTER_##order(p);           \
		r_;                                   \
	})
#define SHARED_DO(p, order, operation)       \
	({                                   \
		SANITIZER_BEFORE_##order(p); \
		operation;                   \
	})
#define SANITIZER_BEFORE_relaxed(p) ((void)0)
#define SANITIZER_BEFORE_acquire(p) ((void)0)
#define SANITIZER_BEFORE_release(p) sanitizer_release(p)
#define SANITIZER_BEFORE_acq_rel(p) sanitizer_release(p)
#define SANITIZER_AFTER_relaxed(p)  ((void)0)
#define SANITIZER_AFTER_acquire(p)  sanitizer_acquire(p)
#define SANITIZER_AFTER_release(p)  ((void)0)
#define SANITIZER_AFTER_acq_rel(p)  sanitizer_acquire(p)

/* Returns a number that is seldom shared by threads which run at the same time. */
static inline unsigned int processor_number(void)
{
	return (unsigned int)sched_getcpu();
}

/* Returns the number of processors there can be; in rare cases a processor has a higher number. */
static inline unsigned int processor_count(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n > 0 ? (unsigned int)n : 1;
}

/* Sleeps while *@word is @value.  Returns 0, also without reason, or -ETIMEDOUT. */
static inline int futex_sleep(_Atomic uint32_t *word, uint32_t value, uint64_t deadline)
{
	struct timespec ts = {
		.tv_sec = (time_t)(deadline / USEC_PER_SEC),
		.tv_nsec = (long)(deadline % USEC_PER_SEC * 1000),
	};
	long r = syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
			 deadline == USEC_INFINITY ? NULL : &ts, NULL, FUTEX_BITSET_MATCH_ANY);

	return r < 0 && errno == ETIMEDOUT ? -ETIMEDOUT : 0;
}

/* Wakes up to @threads that sleep on @word; all for INT_MAX.  Returns true if there was one. */
static inline bool futex_wake(_Atomic uint32_t *word, int threads)
{
	return syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0) > 0;
}

static inline pthread_t thread_self(void)
{
	return pthread_self();
}

#endif

/* Initializes an object that no other thread knows yet. */
#define shared_init(p, value) atomic_init((p), (value))

/*
 * @order is relaxed, acquire, release or acq_rel; a comment at each use gives the reason for it.
 */
#define shared_load(p, order) SHARED(p, order, atomic_load_explicit((p), memory_order_##order))
#define shared_store(p, value, order) \
	SHARED_DO(p, order, atomic_store_explicit((p), (value), memory_order_##order))
#define shared_add(p, value, order) \
	SHARED(p, order, atomic_fetch_add_explicit((p), (value), memory_order_##order))
#define shared_sub(p, value, order) \
	SHARED(p, order, atomic_fetch_sub_explicit((p), (value), memory_order_##order))
#define shared_swap(p, value, order) \
	SHARED(p, order, atomic_exchange_explicit((p), (value), memory_order_##order))
#define shared_or(p, value, order) \
	SHARED(p, order, atomic_fetch_or_explicit((p), (value), memory_order_##order))
/* Strong.  If it fails, *@expected is the value found, loaded with memory_order_@failure. */
#define shared_replace(p, expected, value, success, failure) \
	SHARED(p, success,                                   \
	       atomic_compare_exchange_strong_explicit(      \
		       (p), (expected), (value), memory_order_##success, memory_order_##failure))

/*
 * The same operations on plain words.  Public headers use these words inline, and neither C99 nor
 * C++ has _Atomic.
 */
/*
 * The load is not reported: it orders memory of the library only, and each guard after a stop
 * would pay for the report.
 */
#define plain_load(p, order) SHARED(p, relaxed, __atomic_load_n((p), memory_order_##order))
#define plain_store(p, value, order) \
	SHARED_DO(p, order, __atomic_store_n((p), (value), memory_order_##order))
#define plain_add(p, value, order) \
	SHARED(p, order, __atomic_fetch_add((p), (value), memory_order_##order))
#define plain_sub(p, value, order) \
	SHARED(p, order, __atomic_fetch_sub((p), (value), memory_order_##order))
#define plain_or(p, value, order) \
	SHARED(p, order, __atomic_fetch_or((p), (value), memory_order_##order))
