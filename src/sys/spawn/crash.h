#pragma once

/*
 * A program that survives its own faults: the handler of SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS,
 * SIGTRAP and SIGABRT executes the program again, in the same process, with the same children.  In the same
 * way another program takes over: crash_replace().
 *
 * The handler trusts nothing that the program can write: its data is in pages that are read-only
 * once they are filled, it has a stack with a guard page, and it calls the kernel directly.  Children
 * of the process that have not executed yet, in the same memory or in a copy, end by the signal.
 *
 * The process ends by the signal, as without a handler, after a call of @last: after more than
 * CRASHES_MAX faults within CRASH_WINDOW_USEC, and if the kernel refuses the exec.  A fault in the
 * handler or in @last ends the process by the signal at once.
 *
 * The new image starts with every signal blocked, and crash_take() gives it what it needs to begin
 * like a new program.  While the limit of cores is not 0, it gets one more child, which dumps the
 * core of the fault and ends by its signal.
 *
 * With a keeper (keeper.h) the program ends by the signal, which writes the core, and the keeper executes
 * it again, in its own process, the parent of the children.
 *
 * A program that has taken over is on probation: a fault of it within PROBATION_USEC executes the one
 * before it, and so does the end of SETTLE_USEC without a call of crash_settle().
 */

#include "sys/spawn/crash-history.h"

#define CRASHES_MAX	  5
#ifndef CRASH_WINDOW_USEC /* shorter in a build that shall have a thousand */
#define CRASH_WINDOW_USEC UINT64_C(60000000)
#endif
#define PROBATION_USEC	  UINT64_C(20000000)
#define SETTLE_USEC	  UINT64_C(10000000)

struct crash_plan {
	int history;
	char *const *argv, *const *envp; /* copied; CRASH_VARIABLE is replaced */
	void (*last)(pid_t spared); /* for the end without an exec: kills all others; or NULL */
	bool on_probation;	 /* the reason of this image is CRASH_REPLACED */
};

/*
 * Installs the handler and unblocks its signals.  It may be called once in an image, by its only
 * thread.  Return: 0; -errno: no handler is installed.
 */
int crash_arm(const struct crash_plan *plan);

/* In the program that has a keeper: its faults end it from now on. */
void crash_leave_to_keeper(void);

/*
 * In the keeper: executes what goes on after the program has ended by @signo, or with 0 by an exit.  It returns
 * if that was the end of its work.
 */
void crash_go_on_after(int signo);

/*
 * In a child of the program: executes @program, a descriptor, to rehearse that it takes over, with a
 * copy of the history and with descriptor @kept, -1: none.  Return: -errno.
 */
int crash_rehearse(int program, int kept);

/*
 * Executes @program, a descriptor, in place of this program, of which @version is that of this one.  It returns
 * only if the kernel refuses: -errno, and nothing has changed.
 */
int crash_replace(int program, const char *version);

/* Called by a program that has taken over, when it is at work: from now on it may take its time. */
void crash_settle(void);
