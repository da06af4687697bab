#pragma once

/* A guard on the node of a stream whose last lines are not written yet. */

#include <swansong/guard.h>

#include "daemon/loop/context.h"

struct log_hold {
	struct list in_stream;
	struct context *ctx;
	struct swansong_guard guard;
	unsigned generation; /* one for each */
	uint64_t id, since_usec;
	uint64_t until_usec; /* then it is released */
	struct alarm limit;
	void (*on_limit)(void *arg); /* called before that */
	void *arg;
};

/* The hold of @generation on @list, which is new if there is none, has a clone of @guard; or NULL. */
struct log_hold *log_hold_get(struct list *list, struct context *ctx,
			      const struct swansong_guard *guard, unsigned generation);

void log_hold_until(struct log_hold *hold, uint64_t until_usec, void (*on_limit)(void *arg),
		    void *arg);

/* Releases all holds on @list. */
void log_holds_release(struct list *list);
