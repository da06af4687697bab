#pragma once

/* What the pool offers to the rest of the library. */

#include "base/list.h"
#include <swansong/guard.h>
#include <swansong/pool.h>

/* A job, embedded in what it is about; it must stay valid until run() is called. */
struct job {
	struct list link;
	/*
	 * On the pool's node, when it is accepted; until then it is empty but for where the job
	 * comes from.
	 */
	struct swansong_guard guard;
	/* @guard is that one, which is dropped afterwards unless run() has taken it. */
	void (*run)(struct job *job, struct swansong_guard *guard);
};

/*
 * Accepts @job, whose run() is set, unless the pool is stopped or @also, if not NULL, returns
 * -errno.  It is called with @job before anybody can execute it, and not by a stopped pool; it runs
 * under the pool's lock.
 *
 * Return: 0, -ESHUTDOWN or what @also returned.
 */
int pool_accept(struct swansong_pool *p, struct job *job, int (*also)(struct job *job));
