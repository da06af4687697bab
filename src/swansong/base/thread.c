/*
 * A new thread inherits the mask of signals.  So all signals are blocked while it is started, and
 * the caller's mask is restored afterwards.
 */
#include "swansong/base/thread-private.h"

#include "swansong/base/fork-private.h"

int thread_start(pthread_t *thread, const char *name, void *(*body)(void *arg), void *arg)
{
	sigset_t all, old;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(thread, NULL, body, arg);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r != 0)
		return -r;
	(void)pthread_setname_np(*thread, name); /* for tools that list threads; it may fail */
	return 0;
}

static void thread_on_exit(void *generation)
{
	if (*(unsigned int *)generation != fork_generation())
		return;
	(void)dprintf(STDERR_FILENO,
		      "libswansong: a function that the library calls has ended its thread\n");
	abort();
}

void thread_call(void (*fn)(void *arg), void *arg)
{
	unsigned int generation = fork_generation();

	pthread_cleanup_push(thread_on_exit, &generation);
	fn(arg);
	pthread_cleanup_pop(0);
}

void thread_refuse(const char *function, const char *where)
{
	(void)dprintf(STDERR_FILENO, "libswansong: %s() refused: called %s, which it waits for\n",
		      function, where);
}
