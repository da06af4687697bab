#pragma once

/*
 * The faults of a program that executes itself again (sys/spawn/crash.h), and the reason why its present
 * image was executed: for the next image, in a memory file that all images of the process have.
 */

#include "sys/process/signals.h"

/* The variable of the environment with the descriptor of the history, for the program that goes on. */
#define CRASH_VARIABLE "SWANSONG_CRASHES"

/* In the environment of a program that rehearses to take over. */
#define CRASH_REHEARSAL_VARIABLE "SWANSONG_REHEARSAL"

#define CRASH_MAGIC UINT64_C(0x7265676465676e61)
/* Of what is in the file, with what its owner has behind the history.  Another format is refused. */
#define CRASH_FORMAT 2

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

/* The reason why this image of the program was executed, by itself. */
enum crash_reason {
	CRASH_NONE,	 /* none: this is the first image */
	CRASH_FAULT,	 /* of the same program */
	CRASH_REHEARSAL, /* for a rehearsal of taking over: it has copies of all, and ends */
	CRASH_REPLACED,	 /* it takes over from another one */
	CRASH_UNDONE,	 /* a fault of the program that had taken over from this one */
};

#define CRASH_VERSION_MAX 32

/* It is read and written, never mapped.  Programs of other versions read it. */
struct crash_history {
	uint64_t magic;
	uint32_t format, size;
	struct signals signals; /* the signal state that the first image was started with */
	uint64_t n;
	struct crash last[CRASHES_KEPT]; /* at their number modulo CRASHES_KEPT */
	uint64_t replaced_usec;		 /* CLOCK_MONOTONIC: the last crash_replace() */
	uint32_t reason;		 /* enum crash_reason */
	int32_t former;			 /* CRASH_REPLACED: descriptor of the program before */
	char version[CRASH_VERSION_MAX]; /* version of that program, for people; not always ended by 0 */
	int64_t next; /* for a keeper: descriptor of the program to execute; -1: none; 0: not chosen */
	int64_t spared; /* the child that outlives the end of all: its pid; 0: none */
};

/* Makes a history without faults.  Return: its descriptor, CLOEXEC, or -errno. */
int crash_history_new(const struct signals *signals);

/*
 * In the next image: reads the history, removes its variables, and gives the process its name again.
 * Return: its descriptor, CLOEXEC; -ENOENT: this is the first image; -EBADMSG: the variable is not ours, or
 * the history is of another format.  Then @ret has the reason alone.
 */
int crash_take(struct crash_history *ret);

/* The latest fault; @history has one if its reason is CRASH_FAULT or CRASH_UNDONE. */
const struct crash *crash_latest(const struct crash_history *history);

/* At the end of all, the child @pid is to be spared; 0: none. */
void crash_history_spare(int fd, pid_t pid);

/* Return: 0; -EBADMSG: @fd is no history. */
int crash_history_read(int fd, struct crash_history *ret);
