#pragma once

/* What the threads of the library have in common. */

#include <pthread.h>

/*
 * Starts a joinable thread with all signals blocked: those of the program are for its own threads.
 * @name has at most 15 characters.  0 or -errno.
 */
int thread_start(pthread_t *thread, const char *name, void *(*body)(void *arg), void *arg);

/*
 * Says on standard error that @function was called where it would have to wait for itself.  It is
 * for a mistake in the program that nobody would notice otherwise.
 */
void thread_refuse(const char *function, const char *where);
