#pragma once

/* A guard on the node of a stream until the last lines of a run are written. */

#include <swansong/guard.h>

#include "daemon/loop/context.h"

struct log_hold {
	struct list in_stream;
	struct context *ctx;
	struct swansong_guard guard;
	unsigned generation; /* each has one hold at most */
	uint64_t id, since_usec;
	uint64_t until_usec; /* the time of its release at the latest */
	struct alarm limit;
	void (*on_limit)(void *arg); /* called before the release by @limit */
	void *arg;
};

/* Returns the hold of @generation on @list, or a new one with a clone of @guard, or NULL. */
struct log_hold *log_hold_get(struct list *list, struct context *ctx,
			      const struct swansong_guard *guard, unsigned generation);
void log_holds_release(struct list *list);
