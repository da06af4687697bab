#pragma once

/*
 * The way into a loop: a queue of posts, and the state that says whether one is accepted.  All may
 * be called from any thread, except gate_run().
 */

#include <stdbool.h>

#include "base/list.h"
#include "swansong/base/fork-private.h"
#include "swansong/base/lock-private.h"
#include <swansong/guard.h>

/* Embedded in what it is about; it must stay valid until run() is called. */
struct post {
	struct list link;
	/*
	 * On the gate's node, when it is accepted; until then it is empty but for where the post
	 * comes from.
	 */
	struct swansong_guard guard;
	void (*run)(struct post *post);
};

/* As enum swansong_loop_state has them; loop.h says what each accepts. */
enum gate_state { GATE_IDLE, GATE_STARTING, GATE_RUNNING, GATE_STOPPING, GATE_STOPPED };

struct gate {
	struct swansong *node;	/* constant, not owned; valid until the state is Stopped */
	int fd;			/* constant; readable when gate_run() should be called */
	_Atomic uint32_t state; /* enum gate_state */

	unsigned int generation; /* constant; of fork_generation() */

	struct lock lock; /* of these two */
	struct list posts;
	struct swansong_guard last; /* from the stop to its end */
};

/* Idle.  0 or -errno; gate_done() takes what gate_init() left in either case. */
int gate_init(struct gate *g, struct swansong *node);
void gate_done(struct gate *g);

/* In a process that was forked since: there is no thread, and the lock may be taken for ever. */
static inline bool gate_is_foreign(const struct gate *g)
{
	return g->generation != fork_generation();
}

/* A gate that is foreign is Stopped. */
static inline enum gate_state gate_state(const struct gate *g)
{
	if (gate_is_foreign(g))
		return GATE_STOPPED;
	/* Acquire: what was done before it came to this. */
	return shared_load(&g->state, acquire);
}

/* Moves the state from @from to @to; false if it was not @from. */
bool gate_move(struct gate *g, enum gate_state from, enum gate_state to);

/* Accepts @post, whose run() is set.  0, or -ESHUTDOWN if the state is not Running. */
int gate_post(struct gate *g, struct post *post);

/* Executes what is in the queue, and not what is added meanwhile. */
void gate_run(struct gate *g);

/* Refuses posts from now on, stops the node and wakes the loop; once. */
void gate_begin_stop(struct gate *g);

/* From Stopping to Stopped: the queue is empty, and there is no thread, or it is at its end. */
void gate_end_stop(struct gate *g);
