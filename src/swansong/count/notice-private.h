#pragma once

/* A function of the program that is called once, when something has happened.  See notice.c. */

#include <pthread.h>

#include "swansong/count/object-private.h"

struct notice {
	struct waiter waiter;
	struct tree *tree; /* constant; kept by the owner */

	/* These under the tree's lock. */
	void (*fn)(void *arg);
	void *arg;
	pthread_t runner; /* while running, in the process of this generation */
	unsigned int generation;
	bool cancelled;
	bool running;

	_Atomic unsigned int owners;
	struct latch returned; /* fn has */
};

/* @end releases it; see struct waiter. */
void notice_init(struct notice *n, struct tree *tree, void (*end)(struct waiter *w));

/*
 * Has @fn called once @happened, which is set under the tree's lock; at once if it is.  Otherwise, if
 * @list is not NULL, the waiter joins it, from which it is to be taken then.  0, or -EALREADY.
 */
int notice_call(struct notice *n, const struct latch *happened, struct list *list,
		void (*fn)(void *arg), void *arg);

/* When this returns fn is not running, but for this thread, and will not be called.  Releases it. */
void notice_drop(struct notice *n);
