#pragma once

/*
 * Threads that are cancelled (pthread_cancel(3)).  A call with a lock held, or on whose end another
 * thread depends, must not be a cancellation point.
 */

#include <pthread.h>
#include <sys/eventfd.h>

#include "base/std.h"

/* Returns the state to be restored. */
static inline int cancel_disable(void)
{
	int state;

	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return state;
}

static inline void cancel_restore(const int *state)
{
	(void)pthread_setcancelstate(*state, NULL);
}

/* No call is a cancellation point until the end of the block. */
#define CANCEL_DISABLED_SCOPE \
	cleanup(cancel_restore) __attribute__((unused)) int cancel_state = cancel_disable()

/* close(2) without a cancellation point; a negative @fd is left alone. */
static inline void cancel_safe_close(int fd)
{
	CANCEL_DISABLED_SCOPE;

	if (fd >= 0)
		(void)close(fd);
}

/* Adds @n to the eventfd @fd.  That only fails if the counter is full; @fd is readable then. */
static inline void cancel_safe_signal(int fd, uint64_t n)
{
	CANCEL_DISABLED_SCOPE;

	(void)eventfd_write(fd, n);
}
