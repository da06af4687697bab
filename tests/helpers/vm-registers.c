/*
 * For user-mode Linux on processors with more registers than its kernel knows, such as those of AMX: it gives ptrace(2)
 * the part that it has for a process, and Linux accepts only all.  To be preloaded: the others stay as they are.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

long ptrace(enum __ptrace_request request, ...)
{
	static char registers[65536];
	struct iovec all = { registers, sizeof(registers) }, *part;
	long number, word;
	va_list args;
	pid_t pid;

	va_start(args, request);
	pid = va_arg(args, pid_t);
	number = va_arg(args, long);
	part = va_arg(args, struct iovec *);
	va_end(args);
	if (request == PTRACE_SETREGSET && number == NT_X86_XSTATE &&
	    syscall(SYS_ptrace, PTRACE_GETREGSET, pid, number, &all) == 0 && part->iov_len < all.iov_len) {
		memcpy(registers, part->iov_base, part->iov_len);
		part = &all;
	}
	/* The C library returns the word, the kernel writes it. */
	if (request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSER)
		return syscall(SYS_ptrace, request, pid, number, &word) < 0 ? -1 : word;
	return syscall(SYS_ptrace, request, pid, number, part);
}
