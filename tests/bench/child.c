/*
 * child: the smallest service there can be.
 *
 * usage: child
 *
 * Writes its pid, an int, to standard output as soon as it runs, and waits for a signal.  With
 * CHILD_TINY it is without the C library, for the machines whose system calls are known here: then
 * its own start is next to nothing of the measured time.
 *
 * With CHILD_BIRTHS it writes to the FIFO of that name, as not every supervisor hands its standard
 * output down; with CHILD_ENDS it ends instead of waiting.
 */
#include <fcntl.h>
#include <unistd.h>

#ifndef CHILD_ENDS
#define CHILD_ENDS 0
#endif

#ifdef CHILD_TINY
#include <stddef.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
static long call(long number, long a, long b, long c, long d)
{
	register long fourth __asm__("r10") = d;

	__asm__ volatile("syscall"
			 : "+a"(number)
			 : "D"(a), "S"(b), "d"(c), "r"(fourth)
			 : "rcx", "r11", "memory");
	return number;
}
#elif defined(__aarch64__)
static long call(long number, long a, long b, long c, long d)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
	return x0;
}
#else
#error "the system calls of this machine are not known here"
#endif

_Noreturn void _start(void);
_Noreturn void _start(void)
{
	int pid = (int)call(SYS_getpid, 0, 0, 0, 0);
	long out = 1;

#ifdef CHILD_BIRTHS
	out = call(SYS_openat, AT_FDCWD, (long)CHILD_BIRTHS, O_WRONLY, 0);
#endif
	(void)call(SYS_write, out, (long)&pid, sizeof(pid), 0);
	if (CHILD_ENDS)
		(void)call(SYS_exit_group, 0, 0, 0, 0);
	for (;;)
		(void)call(SYS_ppoll, 0, 0, 0, 0);
}

#else

int main(void)
{
	int pid = getpid(), out = 1;

#ifdef CHILD_BIRTHS
	out = open(CHILD_BIRTHS, O_WRONLY | O_CLOEXEC);
#endif
	if (write(out, &pid, sizeof(pid)) != sizeof(pid))
		return 1;
	return CHILD_ENDS ? 0 : pause();
}

#endif
