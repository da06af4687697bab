#pragma once

/* A function of the program that is called once after an event.  See notice.c. */

#include "swansong/count/object-private.h"

struct notice {
	struct waiter waiter;
	struct tree *tree; /* constant; the owner keeps it alive */

	/* The members down to "running" are under the tree's lock. */
	void (*fn)(void *arg);
	void *arg;
	pthread_t runner; /* valid while running, in the process of "generation" */
	unsigned int generation;
	bool cancelled;
	bool running;

	_Atomic unsigned int owners;
	struct latch returned;		  /* set when fn has returned */
	_Atomic(struct notice *) awaited; /* the notice for the end of which fn waits; used if misuse is caught */
};

/* @end releases the notice; see struct waiter. */
void notice_init(struct notice *n, struct tree *tree, void (*end)(struct waiter *w));

/*
 * Has @fn called once @happened is set, which is done under the tree's lock; calls @fn at once if
 * it is set.  Otherwise, if @list is not NULL, the waiter joins @list, and the thread that sets
 * @happened takes it from there.  Returns 0, or -EALREADY if the notice has a function.
 */
int notice_call(struct notice *n, const struct latch *happened, struct list *list,
		void (*fn)(void *arg), void *arg);

/*
 * Releases the notice.  When this returns, fn will not be called, and it is not running, except
 * when this is called inside of it.
 */
void notice_drop(struct notice *n);
