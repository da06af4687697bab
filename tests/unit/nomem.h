#pragma once

/*
 * An allocator that can be made to fail: the linker sends the program's own calls to __wrap_*, and
 * what the C library needs for itself is left alone.  For programs linked with $(nomem_ldflags).
 */

/* So many more allocations succeed; -1, as at first: as many as wanted. */
extern long allocations_left;
