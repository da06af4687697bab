#pragma once

/*
 * A program that survives its own faults: the handler of SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS,
 * SIGTRAP and SIGABRT executes the program again, in the same process, with the same children.
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
 */

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/process/signals.h"

#define CRASHES_MAX	  5
#define CRASH_WINDOW_USEC UINT64_C(60000000)

/* The variable of the environment with the descriptor of the history, for the program that goes on. */
#define CRASH_VARIABLE "SWANSONG_CRASHES"

struct crash {
	uint64_t usec, address; /* CLOCK_MONOTONIC; of the fault, with a signal that has one */
	/*
	 * In the file of the program, as addr2line(1) takes it; 0: not known.  If @called it is that
	 * of a call which led to the fault in a library, as far as the stack shows it.
	 */
	uint64_t place;
	int32_t signo;
	uint32_t called;
};

#define CRASHES_KEPT 8

/* In a memory file, which all images of the process have.  It is read and written, never mapped. */
struct crash_history {
	uint64_t magic, size;
	struct signals signals; /* as the first image was started with */
	uint64_t n;
	struct crash last[CRASHES_KEPT]; /* at their number modulo CRASHES_KEPT */
};

struct crash_plan {
	int history;
	char *const *argv, *const *envp; /* copied; CRASH_VARIABLE is replaced */
	void (*last)(int signo); /* for the end without an exec: kills all services; or NULL */
};

/* Makes a history without faults.  Return: its descriptor, CLOEXEC, or -errno. */
int crash_history_new(const struct signals *signals);

/*
 * In the image after a fault: reads the history, removes its variable, and gives the process its name
 * again.  Return: its descriptor, CLOEXEC; -ENOENT: this is the first image; -EBADMSG: the variable is
 * not ours.
 */
int crash_take(struct crash_history *ret);

/* The latest fault; @history has one. */
const struct crash *crash_latest(const struct crash_history *history);

/*
 * Installs the handler and unblocks its signals.  It may be called once in an image, by its only
 * thread.  Return: 0; -errno: no handler is installed.
 */
int crash_arm(const struct crash_plan *plan);
