#pragma once

/*
 * Restartable sequences (rseq(2)): a few instructions that the kernel starts again from the top if
 * the thread is preempted, migrated or signalled before the last of them.  So data that only the
 * threads of one processor write can be changed without a locked instruction, and rseq_fence()
 * makes all threads start again.
 *
 * The C library registers its threads.  Only x86-64 is supported, and not with ThreadSanitizer,
 * which sees no assembly; elsewhere rseq_is_there() is false.
 */

#include "swansong/base/atomic-private.h"

#define RSEQ_STRIDE_SHIFT 7

/* The count of one processor.  It takes two cache lines, as some processors fetch them in pairs. */
struct percpu_slot {
	_Alignas(1 << RSEQ_STRIDE_SHIFT) _Atomic uint64_t count;
};

#ifdef SWANSONG_STEP
#include "tests/stress/step-rseq.h"
#elif defined(__x86_64__) && defined(__LP64__) && !defined(SANITIZER_SEES_ALL) && __has_include(<sys/rseq.h>)

#include <linux/membarrier.h>
#include <sys/rseq.h>

/* Returns true if sequences can be used, by the threads of the process and by later ones. */
static inline bool rseq_is_there(void)
{
	return __rseq_size > 0 &&
	       syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0) == 0;
}

/* Adds @delta to this processor's slot of @n slots, unless *@closed.  Returns true if it did. */
static inline bool rseq_add(_Atomic uint32_t *closed, struct percpu_slot *slots, uint32_t n,
			    uint64_t delta)
{
	struct rseq *self = (void *)((char *)__builtin_thread_pointer() + __rseq_offset);

	/*
	 * 3 describes the sequence: it begins at 1 and ends at 2, with its one store; at 4 the
	 * kernel continues a thread that has to start again.  A thread that is not registered has
	 * no processor below @n.
	 */
	sanitizer_release(closed);
again:
	__asm__ goto(".pushsection __rseq_cs, \"aw\"\n\t"
		     ".balign 32\n"
		     "3:\n\t"
		     ".long 0, 0\n\t"
		     ".quad 1f, 2f - 1f, 4f\n\t"
		     ".popsection\n\t"
		     "leaq 3b(%%rip), %%rax\n\t"
		     "movq %%rax, %[sequence]\n"
		     "1:\n\t"
		     "cmpl $0, %[closed]\n\t"
		     "jne %l[refused]\n\t"
		     "movl %[cpu], %%eax\n\t"
		     "cmpl %[n], %%eax\n\t"
		     "jae %l[refused]\n\t"
		     "shlq %[shift], %%rax\n\t"
		     "addq %[delta], (%[slots], %%rax)\n"
		     "2:\n\t"
		     "movq $0, %[sequence]\n\t" /* the descriptor is unloaded with this library */
		     ".pushsection __rseq_failure, \"ax\"\n\t"
		     ".byte 0x0f, 0xb9, 0x3d\n\t" /* an invalid instruction with the signature */
		     ".long %c[signature]\n"
		     "4:\n\t"
		     "jmp %l[again]\n\t"
		     ".popsection"
		     :
		     : [sequence] "m"(self->rseq_cs), [cpu] "m"(self->cpu_id),
		       [closed] "m"(*closed), [n] "rm"(n), [slots] "r"(slots), [delta] "er"(delta),
		       [shift] "i"(RSEQ_STRIDE_SHIFT), [signature] "i"(RSEQ_SIG)
		     : "rax", "cc", "memory"
		     : refused, again);
	return true;
refused:
	/* The kernel would still read the descriptor. */
	__asm__ volatile("movq $0, %[sequence]" : [sequence] "=m"(self->rseq_cs));
	sanitizer_acquire(closed);
	return false;
}

/*
 * When it returns, every sequence of the process that had begun has ended or begins again.  Returns
 * false if the kernel refuses; after rseq_is_there() it can only do so because of a filter.
 */
static inline bool rseq_fence(_Atomic uint32_t *closed)
{
	(void)closed;
	return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0) == 0;
}

#else

static inline bool rseq_is_there(void)
{
	return false;
}

static inline bool rseq_add(_Atomic uint32_t *closed, struct percpu_slot *slots, uint32_t n,
			    uint64_t delta)
{
	(void)closed, (void)slots, (void)n, (void)delta;
	return false;
}

static inline bool rseq_fence(_Atomic uint32_t *closed)
{
	(void)closed;
	return true;
}

#endif
