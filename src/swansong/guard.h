#ifndef SWANSONG_GUARD_H
#define SWANSONG_GUARD_H

/*
 * A guard is a piece of work in progress.  While it is held, neither its node nor any node above
 * is complete.  It delays completion, never the stop.
 *
 * A guard is a value: taking one allocates nothing and cannot fail.  It may be moved by assignment
 * and dropped by another thread, but exactly one of the copies is dropped; what shall be held
 * twice is cloned.  It keeps its node alive after the last reference to the node is gone.
 *
 * Taking and dropping one costs one atomic addition each, and after a stop one for each stopped
 * node from its own upwards; see swansong_percpu_enable() for a node that many threads use.  A guard
 * taken on a stopped node is an ordinary guard: it delays the completions that are not resolved yet.
 */

#include <stddef.h>

#include "swansong/declare.h"
#include "swansong/node.h"

SWANSONG_BEGIN_DECLARATIONS

/* All members are private; all zero is the empty guard. */
struct swansong_guard {
	struct swansong *node;
	const char *file; /* where it was taken */
	const char *function;
	unsigned int line;
	unsigned int record; /* see swansong/report.h */
};

/* The functions behind the macros below; @file and @function are not copied. */
struct swansong_guard swansong_guard_at(struct swansong *s, const char *file, unsigned int line,
					const char *function);
struct swansong_guard swansong_guard_clone_at(const struct swansong_guard *g, const char *file,
					      unsigned int line, const char *function);

/* Takes a guard on the node @s. */
#define swansong_guard(s) swansong_guard_at((s), __FILE__, __LINE__, __func__)

/* Takes another guard on the node of the held guard *@g; an empty one if *@g is empty. */
#define swansong_guard_clone(g) swansong_guard_clone_at((g), __FILE__, __LINE__, __func__)

/*
 * Drops the guard and leaves it empty; an empty one is left alone.  Callbacks of completions that
 * are resolved by this run before it returns, on this thread.
 */
void swansong_guard_drop(struct swansong_guard *g);

/* Holds a guard on @s until the end of the enclosing block. */
#define SWANSONG_GUARD_SCOPE(s)                                          \
	struct swansong_guard SWANSONG_PASTE_(swansong_scope_, __LINE__) \
		__attribute__((cleanup(swansong_guard_drop), unused)) = swansong_guard(s)
#define SWANSONG_PASTE_(a, b)  SWANSONG_PASTE__(a, b)
#define SWANSONG_PASTE__(a, b) a##b

/* An object and the guard that is held for as long as the object exists.  A value, as a guard is. */
struct swansong_guarded {
	struct swansong_guard guard;
	void *object;
	void (*destroy)(void *object);
};

static inline struct swansong_guarded swansong_guarded_from(struct swansong_guard guard,
							    void *object, void (*destroy)(void *))
{
	struct swansong_guarded guarded;

	guarded.guard = guard;
	guarded.object = object;
	guarded.destroy = destroy;
	return guarded;
}

/* Ties @object, which @destroy (or nothing, if NULL) ends, to a new guard on @s. */
#define swansong_guarded(s, object, destroy) \
	swansong_guarded_from(swansong_guard(s), (object), (destroy))

/* Destroys the object, then drops the guard; harmless when repeated. */
static inline void swansong_guarded_drop(struct swansong_guarded *guarded)
{
	void *object = guarded->object;

	guarded->object = NULL;
	if (object && guarded->destroy)
		guarded->destroy(object);
	swansong_guard_drop(&guarded->guard);
}

/* Hands the object back, which lives on, and drops the guard; NULL when repeated. */
static inline void *swansong_guarded_take(struct swansong_guarded *guarded)
{
	void *object = guarded->object;

	guarded->object = NULL;
	swansong_guard_drop(&guarded->guard);
	return object;
}

SWANSONG_END_DECLARATIONS

#endif
