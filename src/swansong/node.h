#ifndef SWANSONG_NODE_H
#define SWANSONG_NODE_H

/*
 * A node names a set of guards: those taken on it and those taken on any node below it.  The node
 * is the unit that is stopped, and for whose end a program waits.  A node is not work: creating or
 * dropping one changes nothing that its ancestors show.
 *
 * All functions may be called from any thread.  A caller must hold a reference of its own to the
 * node it passes; for other use, and which of it is caught, see libswansong(3), DIAGNOSTICS.
 */

#include <stdint.h>

#include <swansong/declare.h>

SWANSONG_BEGIN_DECLARATIONS

/* A node passes through these states in this order; only a late guard leads back from the last. */
enum swansong_state {
	SWANSONG_RUNNING,	/* not stopped */
	SWANSONG_SHUTTING_DOWN, /* stopped, with guards in the subtree */
	SWANSONG_COMPLETE,	/* stopped, with no guard in the subtree */
};

/* Creates a root: a running node with one reference, the caller's.  Returns 0 or -ENOMEM. */
int swansong_new(struct swansong **ret);

/*
 * Creates a node below @parent, which it keeps alive, with one reference, the caller's.  The child
 * of a stopped node is born stopped.  The cost does not depend on the number of siblings.  Returns
 * 0 or -ENOMEM.
 */
int swansong_child(struct swansong *parent, struct swansong **ret);

/* Takes another reference to the same node; returns @s.  Two references are equal as pointers. */
struct swansong *swansong_ref(struct swansong *s);

/*
 * Drops a reference, or does nothing for NULL.  Returns NULL.
 *
 * The last reference to a root stops it, as swansong_shut_down() does: after that no thread could.
 * The last reference to a child stops nothing; its guards go on and count for the ancestors.
 */
struct swansong *swansong_unref(struct swansong *s);

/*
 * Stops a node and everything below it.  When this returns, every interrupt of the subtree sees the
 * stop, and every node created below it is born stopped.  It does not wait for guards.  Stopping
 * again does nothing.
 *
 * Callbacks of completions that are resolved by the stop run before this returns, on this thread.
 *
 * A signal handler may call this.  If it has interrupted a function of the library, the nodes below
 * may only be stopped when that function returns; @s itself is stopped at once.
 */
void swansong_shut_down(struct swansong *s);

/* Returns the time @usec microseconds from now, for every parameter "deadline" of the library. */
uint64_t swansong_deadline_in(uint64_t usec);

/*
 * Counts the guards of the busy node @s for each processor apart; the nodes below it are not
 * concerned.  Threads that take and drop guards on one node share a cache line, and are slower
 * together than one thread alone.  From this call until the stop each processor counts in a line of
 * its own.  Nothing else changes: the guards that are counted, the moment when the node is
 * complete, and the threads that may drop a guard stay the same.
 *
 * It costs 128 bytes for each processor that the machine can have.  The stop, the last unref() and
 * swansong_guard_count() have to visit them all.  Guards of a tree with a report
 * (swansong/report.h) are counted in one place.  On a stopped node, or a second time, this does
 * nothing.
 *
 * Return: 0 or -ENOMEM.
 */
int swansong_percpu_enable(struct swansong *s);

/*
 * Returns the state of the node at this moment.  Everything done under the guards happens before
 * SWANSONG_COMPLETE is returned.
 */
enum swansong_state swansong_state(const struct swansong *s);

/* True if @state, a result of swansong_state(), is that one. */
#define swansong_state_is_running(state)       ((state) == SWANSONG_RUNNING)
#define swansong_state_is_shutting_down(state) ((state) == SWANSONG_SHUTTING_DOWN)
#define swansong_state_is_complete(state)      ((state) == SWANSONG_COMPLETE)

/*
 * Returns the number of guards in the subtree: exact when no guard is taken or dropped meanwhile,
 * else a number near it.  This walks the subtree, and is meant for people and tests.
 */
uint64_t swansong_guard_count(struct swansong *s);

/* For __attribute__((cleanup(swansong_unrefp))). */
static inline void swansong_unrefp(struct swansong **s)
{
	*s = swansong_unref(*s);
}

SWANSONG_END_DECLARATIONS

#endif
