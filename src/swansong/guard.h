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
 * Taking and dropping one costs one atomic addition each, at any depth; after a stop, the first
 * guard of a subtree and the last one also cost some for each stopped node above.  See
 * swansong_percpu_enable() for a node that many threads use.  A
 * guard taken on a stopped node is an ordinary guard: it delays the completions that are not
 * resolved yet.
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

/*
 * An object and the guard that is held for as long as the object exists.  A value, as a guard is.
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

/*
 * On a node that runs, the addition is all there is to do, and costs not much more than the call of
 * a function for it would.  So it is inlined below.  If SWANSONG_NO_INLINE is defined, or the
 * compiler does not optimize, the functions of the library are called, which do the same.
 *
 * For that, and to nobody else's use, there are two words at fixed places of a node: the entry, and
 * home, the count of its guards, in a cache line of its own.  If the entry is not 0, everything is
 * left to the library; so a later one may count in any way, and programs need not be built again.
 * If home is below zero then, or, after a drop, zero, the rest is left to it.
 */
#define SWANSONG_ENTRY_(s) ((uint32_t *)(void *)(s))
#define SWANSONG_HOME_(s)  ((uint64_t *)(void *)((char *)(void *)(s) + 64))

/* Take or drop it; take returns the record. */
unsigned int swansong_guard_take_elsewhere_(struct swansong *s, const char *file, unsigned int line,
					    const char *function);
void swansong_guard_drop_elsewhere_(struct swansong *s, unsigned int record);

/* What is left to be done after an addition to home that has made it @home. */
unsigned int swansong_guard_take_rest_(struct swansong *s, uint64_t home, const char *file,
				       unsigned int line, const char *function)
	__attribute__((cold));
void swansong_guard_drop_rest_(struct swansong *s, uint64_t home) __attribute__((cold));

#if !defined(SWANSONG_NO_INLINE) && defined(__GCC_ATOMIC_LLONG_LOCK_FREE) && \
	__GCC_ATOMIC_LLONG_LOCK_FREE == 2

/* Of functions that the library has, too: what is not inlined calls those. */
#define SWANSONG_INLINE_ extern inline __attribute__((gnu_inline))

/* Acquire: what the entry leads to.  NULL is left to a library that catches it. */
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

SWANSONG_INLINE_ struct swansong_guard swansong_guard_clone_at(const struct swansong_guard *g,
							       const char *file, unsigned int line,
							       const char *function)
{
	struct swansong_guard empty = { NULL, NULL, NULL, 0, 0 };

	return g->node ? swansong_guard_at(g->node, file, line, function) : empty;
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
