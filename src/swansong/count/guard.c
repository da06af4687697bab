/*
 * Taking and dropping guards.  A guard begins with count_begin(), which is all there is to do in
 * most cases; programs have the same code inlined.  The rest is out of line: counting at a stopped
 * node, recording, and the work that follows from the last drop.
 */
#include <swansong/guard.h>

#include "swansong/count/node-private.h"
#include "swansong/count/misuse-private.h"
#include "swansong/base/record-private.h"

/* The numbers that are inlined in programs.  They change with the version of the ABI only. */
_Static_assert(offsetof(struct swansong, entry) == 0, "SWANSONG_ENTRY_()");
_Static_assert(offsetof(struct swansong, home) == 64, "SWANSONG_HOME_()");
_Static_assert(COUNT_FROM_HOME == 0, "SWANSONG_IS_COUNTED_AT_HOME_()");
_Static_assert(COUNT_GUARD == 1 && COUNT_MORE == UINT64_C(1) << 63,
	       "the number added, and the sign");

/* Rare code is kept out of line, so that the common functions stay small. */
#define rare __attribute__((noinline, cold))

#define misuse_of_guarded_node(s) misuse_of_node_in(s, "swansong_guard_at")

static rare unsigned int guard_take_rest(struct swansong *s, uint64_t home, const char *file,
					 unsigned int line, const char *function)
{
	struct record record = {
		.node = s,
		.file = file,
		.function = function,
		.line = line,
	};

	if (!count_take_rest(s, home) || !file || !function)
		return 0;
	record.since_usec = clock_now_usec();
	return records_add(s->tree->records, &record);
}

unsigned int swansong_guard_take_rest_(struct swansong *s, uint64_t home, const char *file,
				       unsigned int line, const char *function)
{
	misuse_of_guarded_node(s);
	return guard_take_rest(s, home, file, line, function);
}

static inline unsigned int guard_take(struct swansong *s, const char *file, unsigned int line,
				      const char *function)
{
	uint64_t home = count_begin(s, COUNT_GUARD);

	return count_take_has_rest(home) ? guard_take_rest(s, home, file, line, function) : 0;
}

unsigned int swansong_guard_take_elsewhere_(struct swansong *s, const char *file, unsigned int line,
					    const char *function)
{
	misuse_of_guarded_node(s);
	return guard_take(s, file, line, function);
}

static inline struct swansong_guard guard_on(struct swansong *s, const char *file,
					     unsigned int line, const char *function)
{
	return (struct swansong_guard){
		.node = s,
		.file = file,
		.function = function,
		.line = line,
		.record = guard_take(s, file, line, function),
	};
}

struct swansong_guard swansong_guard_at(struct swansong *s, const char *file, unsigned int line,
					const char *function)
{
	misuse_of_guarded_node(s);
	return guard_on(s, file, line, function);
}

struct swansong_guard swansong_guard_clone_at(const struct swansong_guard *g, const char *file,
					      unsigned int line, const char *function)
{
	if (!g->node)
		return (struct swansong_guard){ 0 };
	return guard_on(g->node, file, line, function); /* no reference is needed */
}

static rare void guard_drop_rest(struct swansong *s, uint64_t home)
{
	struct aftermath after;

	aftermath_init(&after);
	count_drop_rest(s, home, &after);
	node_settle(&after);
}

void swansong_guard_drop_rest_(struct swansong *s, uint64_t home)
{
	guard_drop_rest(s, home);
}

static inline void guard_drop(struct swansong *s)
{
	uint64_t home = count_begin(s, -COUNT_GUARD);

	if (count_drop_has_rest(home))
		guard_drop_rest(s, home);
}

static rare void guard_drop_recorded(struct swansong *s, uint32_t record)
{
	if (!records_remove(s->tree->records, record, s) && MISUSE_IS_CAUGHT)
		misuse_end("swansong_guard_drop", "a copy of this guard was dropped before");
	guard_drop(s);
}

void swansong_guard_drop_elsewhere_(struct swansong *s, unsigned int record)
{
	if (record)
		guard_drop_recorded(s, record);
	else
		guard_drop(s);
}

void swansong_guard_drop(struct swansong_guard *g)
{
	struct swansong *s = g->node;

	if (!s)
		return;
	g->node = NULL;
	swansong_guard_drop_elsewhere_(s, g->record);
}
