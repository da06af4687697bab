#pragma once

/*
 * The entrance of a loop: a queue of posts, and the state that decides whether a post is accepted.
 * All functions may be called from any thread, except gate_run().
 */

#include "swansong/base/fork-private.h"
#include "swansong/base/lock-private.h"
#include <swansong/guard.h>

/*
 * A post to a loop, or a job of a pool.  It is embedded in the object that it is about, and must stay
 * valid until run() is called.
 */
struct post {
	struct list link;
	/*
	 * A guard on the node of the loop or pool once the post is accepted; until then it is empty,
	 * except for the place in the program that the post comes from.
	 */
	struct swansong_guard guard;
	/* @guard is the guard of the post; it is dropped afterwards unless run() has taken it. */
	void (*run)(struct post *post, struct swansong_guard *guard);
};

/*
 * Creates a post that calls @fn(@arg) and frees itself; one that is refused is to be freed by free().
 * Returns NULL if there is no memory.
 */
struct post *post_new(void (*fn)(void *arg), void *arg, const char *file, unsigned int line,
		      const char *function);

/* Puts @post into @queue, which is locked, with a guard on @node. */
void post_accept(struct post *post, struct list *queue, struct swansong *node);

void post_run(struct post *post);

/* The states of enum swansong_loop_state; loop.h describes which of them accept posts. */
enum gate_state { GATE_IDLE, GATE_STARTING, GATE_RUNNING, GATE_STOPPING, GATE_STOPPED };

struct gate {
	struct swansong *node;	/* constant, not owned; valid until the state is Stopped */
	int fd;			/* constant; readable when gate_run() should be called */
	_Atomic uint32_t state; /* enum gate_state */

	unsigned int generation; /* constant; fork_generation() at the beginning */

	struct lock lock; /* of the next two members */
	struct list posts;
	struct swansong_guard last; /* held from the beginning of the stop to its end */
};

/* Initializes a gate in Idle.  Returns 0 or -errno; gate_done() is needed in either case. */
int gate_init(struct gate *g, struct swansong *node);
void gate_done(struct gate *g);

/* True in a process that was forked since: it has no thread, and the lock may be taken for ever. */
static inline bool gate_is_foreign(const struct gate *g)
{
	return g->generation != fork_generation();
}

/* Returns the state; in a forked process that is Stopped. */
static inline enum gate_state gate_state(const struct gate *g)
{
	if (gate_is_foreign(g))
		return GATE_STOPPED;
	/* Acquire: everything before the change to this state. */
	return shared_load(&g->state, acquire);
}

/* Moves the state from @from to @to; returns false if it was not @from. */
bool gate_move(struct gate *g, enum gate_state from, enum gate_state to);

/* Accepts @post, whose run() is set.  Returns 0, or -ESHUTDOWN if the state is not Running. */
int gate_post(struct gate *g, struct post *post);

/* Executes the posts that are in the queue now, and not those that are added meanwhile. */
void gate_run(struct gate *g);

/* Refuses posts from now on, stops the node and wakes the loop; a second call does nothing. */
void gate_begin_stop(struct gate *g);

/* Moves from Stopping to Stopped: the queue is empty, and the thread is missing or at its end. */
void gate_end_stop(struct gate *g);
