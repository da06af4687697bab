#pragma once

/* Ownership in local variables: the owner is declared with cleanup(), and leaves with take(). */

#include <stdlib.h>
#include <unistd.h>

#define cleanup(fn) __attribute__((cleanup(fn)))

/* Hand a pointer or descriptor over and forget it, so that its cleanup() finds nothing to do. */
#define take(p)                             \
	({                                  \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})
#define take_fd(fd)                \
	({                         \
		int taken_ = (fd); \
		(fd) = -1;         \
		taken_;            \
	})

/* For a destructor fn() of a pointer type: defines fnp(), to be named in cleanup(). */
#define DEFINE_CLEANUP(type, fn)          \
	static inline void fn##p(type *p) \
	{                                 \
		if (*p)                   \
			fn(*p);           \
	}

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}
