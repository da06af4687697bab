#pragma once

/* Whether something that is refused says so, and pthread_create() that does what a test wants. */

#include <pthread.h>
#include <stdbool.h>

/*
 * For programs linked with --wrap=pthread_create: how many more threads may be created (-1, as at
 * first, is no limit), and what is called once, if not NULL, before the next one is.
 */
extern int threads_left;
extern void (*before_thread)(void);

/* Calls @fn with standard error read back; whether it said something with @word in it. */
bool says(const char *word, void (*fn)(void *arg), void *arg);
