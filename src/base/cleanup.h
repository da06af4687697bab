#pragma once

/* Ownership in local variables: cleanup() declares the owner, take() hands its value over. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define cleanup(fn) __attribute__((cleanup(fn)))

/* Hand a pointer or descriptor over: the variable is reset, so that cleanup() frees nothing. */
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

/* Frees @memory.  Returns NULL, for "p = free_memory(p)" and for the end of a destructor. */
static inline void *free_memory(void *memory)
{
	free(memory);
	return NULL;
}

/* Defines fnp() for cleanup(), from a destructor fn() of a pointer type. */
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

DEFINE_CLEANUP(FILE *, fclose)
DEFINE_CLEANUP(DIR *, closedir)
