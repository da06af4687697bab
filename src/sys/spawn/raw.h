#pragma once

/*
 * System calls without the C library, for a child in the memory of its parent (sys/spawn/child.h).
 * The wrappers of the C library write errno, which is then a variable of the parent, too.
 */

#include "base/std.h"

/*
 * SPAWN_SHARES_MEMORY: raw() writes no memory, so the child can run beside its parent in the same
 * memory.  Elsewhere, and under a sanitizer, which keeps data of its own about the stack, the child
 * gets a copy.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPAWN_SHARES_MEMORY 0
#elif defined(__has_feature)
#define SPAWN_SHARES_MEMORY (RAW_IS_KNOWN && !__has_feature(address_sanitizer))
#else
#define SPAWN_SHARES_MEMORY RAW_IS_KNOWN
#endif

#if defined(__x86_64__) && !defined(__ILP32__)
#define RAW_IS_KNOWN 1
static inline long raw_call(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return ret;
}
#elif defined(__aarch64__)
#define RAW_IS_KNOWN 1
static inline long raw_call(long number, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory", "cc");
	return x0;
}
#else
#define RAW_IS_KNOWN 0
static inline long raw_call(long number, long a, long b, long c, long d, long e)
{
	long r = syscall(number, a, b, c, d, e);

	return r < 0 ? -errno : r;
}
#endif

/* AddressSanitizer prepares for a call without a return as if it were on the stack of the process. */
#define SPAWN_PLAIN __attribute__((no_sanitize_address))

/* raw(SYS_..., up to five arguments).  Return: the result, or -errno. */
#define raw(...) RAW_FILL(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define RAW_FILL(number, a, b, c, d, e, ...) \
	raw_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e))

/* Where two generations of a call exist, the number of a user has 32 bits in the later one. */
#ifdef SYS_setresuid32
#define RAW_SETGROUPS SYS_setgroups32
#define RAW_SETRESGID SYS_setresgid32
#define RAW_GETRESGID SYS_getresgid32
#define RAW_SETRESUID SYS_setresuid32
#define RAW_GETRESUID SYS_getresuid32
#else
#define RAW_SETGROUPS SYS_setgroups
#define RAW_SETRESGID SYS_setresgid
#define RAW_GETRESGID SYS_getresgid
#define RAW_SETRESUID SYS_setresuid
#define RAW_GETRESUID SYS_getresuid
#endif
