#ifndef SWANSONG_NODE_H
#define SWANSONG_NODE_H

/*
 * A node names a set of guards: those taken on it and those taken on any node below it.  It is the
 * unit that is stopped, and whose end is waited for.  A node is not work: creating or dropping one
 * changes nothing that its ancestors show.
 *
 * All functions may be called from any thread.  A caller must hold a reference of its own to the
 * node it passes; what is caught of other use is in libswansong(3), DIAGNOSTICS.
 */

#include <stdint.h>

#include <swansong/declare.h>

SWANSONG_BEGIN_DECLARATIONS

/* A node passes through these in this order; only a late guard takes it from the last one back. */
enum swansong_state {
	SWANSONG_RUNNING,	/* not stopped */
	SWANSONG_SHUTTING_DOWN, /* stopped, with guards in the subtree */
	SWANSONG_COMPLETE,	/* stopped, without */
};

/**
 * swansong_new() - create a root
 * @ret:	the running node, with one reference, the caller's
 *
 * Return: 0 or -ENOMEM.
 */
int swansong_new(struct swansong **ret);

/**
 * swansong_child() - create a node below another
 * @parent:	the node above; it is kept alive by the child
 * @ret:	the node, with one reference, the caller's
 *
 * The child of a stopped node is born stopped.  The cost does not depend on the number of siblings.
 *
 * Return: 0 or -ENOMEM.
 */
int swansong_child(struct swansong *parent, struct swansong **ret);

/* Another reference to the same node; returns @s.  Two references are equal as pointers. */
struct swansong *swansong_ref(struct swansong *s);

/**
 * swansong_unref() - drop a reference
 * @s:	the node, or NULL
 *
 * The last reference to a root stops it, as swansong_shut_down() does: nobody governs it any more.
 * The last reference to a child stops nothing; its guards go on and count for the ancestors.
 *
 * Return: NULL.
 */
struct swansong *swansong_unref(struct swansong *s);

/**
 * swansong_shut_down() - stop a node and everything below it
 * @s:	the node
 *
 * When this returns, every interrupt of the subtree sees the stop, and every node created below it
 * is born stopped.  Guards are not waited for.  Stopping again does nothing.
 *
 * Callbacks of completions that are resolved by this run before it returns, on this thread.
 *
 * A signal handler may call this.  If it has interrupted a function of the library, the nodes below
 * may only be stopped when that function returns; @s itself is stopped at once.
 */
void swansong_shut_down(struct swansong *s);

/**
 * swansong_percpu_enable() - count the guards of a busy node for each processor apart
 * @s:	the node, of any kind; not those below it
 *
 * Threads that take and drop guards on one node share a cache line, and are slower together than
 * one alone.  From this call until the stop each processor counts in a line of its own.  Nothing
 * else changes: what is counted, when the node is complete, which thread drops a guard.
 *
 * It costs 128 bytes for each processor that the machine can have.  The stop, the last unref() and
 * swansong_guard_count() have to visit them all.  Guards of a tree with a report
 * (swansong/report.h) are counted plainly.  On a stopped node, or again, it does nothing.
 *
 * Return: 0 or -ENOMEM.
 */
int swansong_percpu_enable(struct swansong *s);

/* What the node is at this moment.  What was done under the guards happens before COMPLETE. */
enum swansong_state swansong_state(const struct swansong *s);

/*
 * The number of guards in the subtree: exact when no guard is taken or dropped meanwhile, else a
 * number near it.  This walks the subtree, and is meant for people and tests.
 */
uint64_t swansong_guard_count(struct swansong *s);

/* For __attribute__((cleanup(swansong_unrefp))). */
static inline void swansong_unrefp(struct swansong **s)
{
	*s = swansong_unref(*s);
}

SWANSONG_END_DECLARATIONS

#endif
