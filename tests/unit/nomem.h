#pragma once

/*
 * An allocator that can be made to fail: the linker sends the program's own calls to __wrap_*, and
 * what the C library needs for itself is left alone.  For programs linked with $(nomem_ldflags).
 */

#include <errno.h>
#include <stdbool.h>

/* So many more allocations of this thread succeed; -1, as at first: as many as wanted. */
extern _Thread_local long allocations_left;

/* For __wrap_*: whether this one is to fail, and why. */
static inline bool allocation_fails(void)
{
	if (allocations_left < 0)
		return false;
	if (allocations_left > 0) {
		allocations_left--;
		return false;
	}
	errno = ENOMEM;
	return true;
}
