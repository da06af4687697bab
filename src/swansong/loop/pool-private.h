#pragma once

/* Functions of a pool for the other files of the library. */

#include "base/list.h"
#include <swansong/guard.h>
#include <swansong/pool.h>

/* A job is embedded in the object that it is about; it must stay valid until run() is called. */
struct job {
	struct list link;
	/*
	 * A guard on the pool's node once the job is accepted; until then it is empty, except for
	 * the place in the program that the job comes from.
	 */
	struct swansong_guard guard;
	/* @guard is the guard of the job; it is dropped afterwards unless run() has taken it. */
	void (*run)(struct job *job, struct swansong_guard *guard);
};

/*
 * Accepts @job, whose run() is set, unless the pool is stopped or @also returns -errno.
 *
 * @also:	NULL, or called with @job before any thread can execute the job, under the pool's
 *		lock; a stopped pool does not call it
 *
 * Return: 0, -ESHUTDOWN or the -errno of @also.
 */
int pool_accept(struct swansong_pool *p, struct job *job, int (*also)(struct job *job));
