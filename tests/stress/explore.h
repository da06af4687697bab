#pragma once

/*
 * Runs a few threads under every interleaving of their steps, with a bound on preemptions: switches
 * away from a thread that could have gone on.  A step is the code between two operations of
 * src/swansong/base/atomic-private.h, built with SWANSONG_STEP.  Memory is sequentially consistent
 * here: orders are the business of ThreadSanitizer.
 *
 * Memory that is freed is not used again within a run, and stepping in it is a fault, as is a run
 * that no thread can end.
 */

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

/* True if the compiler has this sanitizer on; gcc and clang show that in different ways. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#define EXPLORE_MAX_THREADS 3

struct exploration {
	unsigned int threads;
	void (*body[EXPLORE_MAX_THREADS])(void *arg);
	void *arg;

	void (*begin)(void *arg); /* makes the world of one run */
	void (*look)(void *arg);  /* after every step; calls explore_fault() */
	void (*end)(void *arg);	  /* when all threads are done; takes the world down */
	/*
	 * A signal handler, or NULL: it interrupts one of the threads, once in a run, at any step
	 * or sleep of the thread.  It may free nothing, as the thread may be in free().
	 */
	void (*handler)(void *arg);
	/*
	 * True: once in a run, one of the threads is cancelled at any cancellation point where it
	 * allows that: it runs its handlers and ends.  A request is not seen before such a point.
	 */
	bool cancels;
	unsigned int preemptions;
	/*
	 * Switch threads after each operation instead of before: this tears the operation from the
	 * code that follows it and is no step itself, instead of the code before it.
	 */
	bool after;
	bool rseq; /* true: there are restartable sequences, each a step */

	unsigned long runs;	 /* out */
	unsigned long points;	 /* out: calls that are cancellation points, in all runs */
	unsigned long cancelled; /* out: runs in which a thread was cancelled */
};

/* Returns NULL, or the message of the first run that had a fault. */
const char *explore(struct exploration *x);

/* To be called by any code that runs below explore(): this run has a fault. */
void explore_fault(const char *what);

/*
 * To be called by a thread: it goes on alone, as the thread that forks does in the new process.
 * The stacks of the others mean nothing any more, and nothing has to be freed in this run.  Returns
 * true if the others had not begun, or were done.
 */
bool explore_alone(void);

/* Used by the library under test, by -D on its command line. */
void *explore_aligned_alloc(size_t alignment, size_t size);
void *explore_calloc(size_t n, size_t size);
void *explore_malloc(size_t size);
void *explore_reallocarray(void *p, size_t n, size_t size);
void explore_free(void *p);

/* Used by cancel-points.c. */
void explore_cancellation_point(void);
/* The same.  Returns true in a thread; if it @waits, when one of @fds is ready. */
bool explore_poll(struct pollfd *fds, nfds_t n, bool waits);
extern bool explore_lacks_nowait; /* true: preadv2(2) has no RWF_NOWAIT, as in an older kernel */
/* As pthread_setcancelstate(3); returns the old state. */
int explore_set_cancel_state(int state);
