#ifndef SWANSONG_GUARD_H
#define SWANSONG_GUARD_H

/*
 * A guard is a piece of work in progress.  While it is held, neither its node nor any node above
 * is complete.  It delays completion, never the stop.
 *
 * A guard is a value: taking a guard allocates nothing and cannot fail.  It may be moved by
 * assignment and dropped by another thread, but exactly one of the copies is dropped; a second
 * guard on the same node is made by swansong_guard_clone().  A guard keeps its node alive after the
 * last reference to the node is gone.
 *
 * Taking and dropping a guard costs one atomic addition each, at any depth.  After a stop, the
 * first guard of a subtree and the last guard also cost some for each stopped node above.  For a
 * node that many threads use, see swansong_percpu_enable().  A guard taken on a stopped node is an
 * ordinary guard: it delays the completions that are not resolved yet.
 */

#include <stddef.h>
#include <stdint.h>

#include <swansong/declare.h>
#include <swansong/node.h>

SWANSONG_BEGIN_DECLARATIONS

/* All members are private; all zero is the empty guard. */
struct swansong_guard {
	struct swansong *node;
	const char *file; /* where it was taken */
	const char *function;
	unsigned int line;
	unsigned int record; /* see swansong/report.h */
};

/* The functions behind the macros below; they keep @file and @function, and do not copy them. */
struct swansong_guard swansong_guard_at(struct swansong *s, const char *file, unsigned int line,
					const char *function);
struct swansong_guard swansong_guard_clone_at(const struct swansong_guard *g, const char *file,
					      unsigned int line, const char *function);

/* Takes a guard on the node @s. */
#define swansong_guard(s) swansong_guard_at((s), __FILE__, __LINE__, __func__)

/* Takes another guard on the node of the held guard *@g; returns an empty guard if *@g is empty. */
#define swansong_guard_clone(g) swansong_guard_clone_at((g), __FILE__, __LINE__, __func__)

/*
 * Drops the guard and leaves it empty; an empty guard is left alone.  Callbacks of completions that
 * are resolved by the drop run before this function returns, on this thread.
 */
void swansong_guard_drop(struct swansong_guard *g);

/* Holds a guard on @s until the end of the enclosing block. */
#define SWANSONG_GUARD_SCOPE(s)                                             \
	struct swansong_guard SWANSONG_PASTE_(swansong_scope_, __COUNTER__) \
		__attribute__((__cleanup__(swansong_guard_drop), __unused__)) = swansong_guard(s)
#define SWANSONG_PASTE_(a, b)  SWANSONG_PASTE__(a, b)
#define SWANSONG_PASTE__(a, b) a##b

/*
 * An object and the guard that is held for as long as the object exists.  It is a value, as a guard
 * is.
 */
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

/* Ties @object to a new guard on @s; @destroy ends the object, or is NULL. */
#define swansong_guarded(s, object, destroy) \
	swansong_guarded_from(swansong_guard(s), (object), (destroy))

/* Destroys the object, then drops the guard; a second call does nothing. */
static inline void swansong_guarded_drop(struct swansong_guarded *guarded)
{
	void *object = guarded->object;

	guarded->object = NULL;
	if (object && guarded->destroy)
		guarded->destroy(object);
	swansong_guard_drop(&guarded->guard);
}

/* Returns the object, which lives on, and drops the guard; a second call returns NULL. */
static inline void *swansong_guarded_take(struct swansong_guarded *guarded)
{
	void *object = guarded->object;

	guarded->object = NULL;
	swansong_guard_drop(&guarded->guard);
	return object;
}

/*
 * On a node that runs, taking a guard is one addition; a function call would nearly double its cost.
 * So it is inlined below.  If SWANSONG_NO_INLINE is defined, or the
 * compiler does not optimize, the functions of the library are called; these do the same.
 *
 * Two words are at fixed places of a node, for the code below and no other use: the entry, and
 * home, the count of its guards, in a cache line of its own.  If the entry is not 0, the call goes
 * to the library; so a later library may count in any way, and programs need not be built again.
 * If home is below zero after the addition, or zero after a drop, the library does the rest.
 */
#define SWANSONG_ENTRY_(s) ((uint32_t *)(void *)(s))
#define SWANSONG_HOME_(s)  ((uint64_t *)(void *)((char *)(void *)(s) + 64))

/* Take or drop a guard in the library; the first returns the number of its record. */
unsigned int swansong_guard_take_elsewhere_(struct swansong *s, const char *file, unsigned int line,
					    const char *function);
void swansong_guard_drop_elsewhere_(struct swansong *s, unsigned int record);

/* Do the rest after an addition to home that has made it @home. */
unsigned int swansong_guard_take_rest_(struct swansong *s, uint64_t home, const char *file,
				       unsigned int line, const char *function)
	__attribute__((cold));
void swansong_guard_drop_rest_(struct swansong *s, uint64_t home) __attribute__((cold));

#if !defined(SWANSONG_NO_INLINE) && defined(__GCC_ATOMIC_LLONG_LOCK_FREE) && \
	__GCC_ATOMIC_LLONG_LOCK_FREE == 2

/* For functions that the library has, too: calls that are not inlined go to the library. */
#define SWANSONG_INLINE_ extern inline __attribute__((gnu_inline))

/* Acquire: the words that the entry leads to.  NULL goes to the library, which may catch it. */
#define SWANSONG_IS_COUNTED_AT_HOME_(s) \
	__builtin_expect((s) && __atomic_load_n(SWANSONG_ENTRY_(s), __ATOMIC_ACQUIRE) == 0, 1)

SWANSONG_INLINE_ struct swansong_guard swansong_guard_at(struct swansong *s, const char *file,
							 unsigned int line, const char *function)
{
	struct swansong_guard guard;

	guard.node = s;
	guard.file = file;
	guard.function = function;
	guard.line = line;
	guard.record = 0;
	if (SWANSONG_IS_COUNTED_AT_HOME_(s)) {
		uint64_t home = __atomic_add_fetch(SWANSONG_HOME_(s), 1, __ATOMIC_ACQ_REL);

		if ((int64_t)home < 0)
			guard.record = swansong_guard_take_rest_(s, home, file, line, function);
	} else {
		guard.record = swansong_guard_take_elsewhere_(s, file, line, function);
	}
	return guard;
}

SWANSONG_INLINE_ void swansong_guard_drop(struct swansong_guard *g)
{
	struct swansong *s = g->node;

	if (!s)
		return;
	g->node = NULL;
	if (!g->record && SWANSONG_IS_COUNTED_AT_HOME_(s)) {
		uint64_t home = __atomic_sub_fetch(SWANSONG_HOME_(s), 1, __ATOMIC_ACQ_REL);

		if ((int64_t)home <= 0)
			swansong_guard_drop_rest_(s, home);
	} else {
		swansong_guard_drop_elsewhere_(s, g->record);
	}
}

#endif

SWANSONG_END_DECLARATIONS

#endif
