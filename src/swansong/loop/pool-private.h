#pragma once

/* Functions of a pool for the other files of the library. */

#include "swansong/loop/gate-private.h"
#include <swansong/pool.h>

/*
 * Accepts @job, whose run() is set, unless the pool is stopped or @also returns -errno.
 *
 * @also:	NULL, or called with @job before any thread can execute the job, under the pool's
 *		lock; a stopped pool does not call it
 *
 * Return: 0, -ESHUTDOWN or the -errno of @also.
 */
int pool_accept(struct swansong_pool *p, struct post *job, int (*also)(struct post *job));
