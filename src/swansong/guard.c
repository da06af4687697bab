#include "swansong/guard.h"

#include "base/clock.h"
#include "swansong/count-private.h"
#include "swansong/misuse-private.h"
#include "swansong/record-private.h"

/* What is rare is apart, so that the rest stays small. */
#define rare __attribute__((noinline, cold))

/* Returns the number of the record, or 0. */
static rare uint32_t guard_take_rest(struct swansong *s, uint64_t home, const char *file,
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

struct swansong_guard swansong_guard_at(struct swansong *s, const char *file, unsigned int line,
					const char *function)
{
	uint32_t record = 0;
	uint64_t home;

	misuse_if(!s, "there is no node");
	home = count_begin(s, COUNT_GUARD);
	if (count_take_has_rest(home))
		record = guard_take_rest(s, home, file, line, function);
	return (struct swansong_guard){
		.node = s,
		.file = file,
		.function = function,
		.line = line,
		.record = record,
	};
}

struct swansong_guard swansong_guard_clone_at(const struct swansong_guard *g, const char *file,
					      unsigned int line, const char *function)
{
	if (!g->node)
		return (struct swansong_guard){ 0 };
	return swansong_guard_at(g->node, file, line, function);
}

static rare void guard_drop_rest(struct swansong *node, uint64_t home)
{
	struct aftermath after;

	aftermath_init(&after);
	count_drop_rest(node, home, &after);
	node_settle(&after);
}

static inline void guard_drop(struct swansong *node)
{
	uint64_t home = count_begin(node, -COUNT_GUARD);

	if (count_drop_has_rest(home))
		guard_drop_rest(node, home);
}

static rare void guard_drop_recorded(struct swansong *node, uint32_t record)
{
	if (!records_remove(node->tree->records, record, node) && MISUSE_IS_CAUGHT)
		misuse_end("swansong_guard_drop", "a copy of this guard was dropped before");
	guard_drop(node);
}

void swansong_guard_drop(struct swansong_guard *g)
{
	struct swansong *node = g->node;

	if (!node)
		return;
	g->node = NULL;
	if (g->record)
		guard_drop_recorded(node, g->record);
	else
		guard_drop(node);
}
