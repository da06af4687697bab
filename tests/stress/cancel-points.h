#pragma once

/*
 * Included before the sources of the library (-include): the handlers of a thread that is cancelled
 * are on a list of the explorer's, as its threads are contexts.
 */

#include <pthread.h>

struct explore_cleanup {
	void (*routine)(void *arg);
	void *arg;
	struct explore_cleanup *outer;
};

void explore_cleanup_push(struct explore_cleanup *c);
void explore_cleanup_pop(struct explore_cleanup *c, int execute);

#undef pthread_cleanup_push
#undef pthread_cleanup_pop
#define pthread_cleanup_push(function, argument)                                    \
	{                                                                           \
		struct explore_cleanup cleanup_ = { (function), (argument), NULL }; \
		explore_cleanup_push(&cleanup_);
#define pthread_cleanup_pop(execute)               \
	explore_cleanup_pop(&cleanup_, (execute)); \
	}
