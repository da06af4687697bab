#pragma once

/* Functions for the threads of the library. */

#include <pthread.h>

/*
 * Starts a joinable thread with all signals blocked, because the signals of the program are for its
 * own threads.  @name has at most 15 characters.  Returns 0 or -errno.
 */
int thread_start(pthread_t *thread, const char *name, void *(*body)(void *arg), void *arg);

/*
 * Calls @fn(@arg).  If it ends the thread in place of returning (pthread_exit(3)), the program ends
 * with a line on standard error; but not in a process that it has forked.
 */
void thread_call(void (*fn)(void *arg), void *arg);

/*
 * Reports on standard error that @function was called where it would have to wait for itself.  The
 * program would not notice the mistake otherwise.
 */
void thread_refuse(const char *function, const char *where);
