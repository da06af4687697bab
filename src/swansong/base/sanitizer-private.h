#pragma once

/*
 * Reports the order of threads to ThreadSanitizer.
 *
 * A program that is built with the sanitizer sees the atomic operations of its own code, and none
 * of an installed library: its correct use of guards would be shown as races.  So each atomic
 * operation of the library is reported with its order, at its address, if the process has the
 * sanitizer.  Without the sanitizer the report is one comparison, and no call.
 *
 * A library that is itself built with the sanitizer has nothing to report.
 */

#include "base/std.h"

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define SANITIZER_SEES_ALL
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define SANITIZER_SEES_ALL
#endif

#ifdef SANITIZER_SEES_ALL

#define sanitizer_release(p) ((void)(p))
#define sanitizer_acquire(p) ((void)(p))

#else

/* NULL where there is no sanitizer. */
extern __attribute__((weak)) void __tsan_release(void *address);
extern __attribute__((weak)) void __tsan_acquire(void *address);

/* Before an operation at @p with that order; and after one, when @p may be freed already. */
#define sanitizer_report(function, p)                        \
	do {                                                 \
		if (__builtin_expect((function) != NULL, 0)) \
			(function)((void *)(uintptr_t)(p));  \
	} while (0)
#define sanitizer_release(p) sanitizer_report(__tsan_release, p)
#define sanitizer_acquire(p) sanitizer_report(__tsan_acquire, p)

#endif
