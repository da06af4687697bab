/*
 * The records are spread over shards, each with a lock.  A guard is recorded in the shard of the
 * processor that it is taken on, so threads seldom meet.  A guard carries the number of its record,
 * and any thread finds the record by it.
 *
 * Within a shard, records are numbered by slots, in levels.  Each level is twice as large as the
 * one before, so nothing moves when the shard grows.  Free slots are chained.  Memory is kept until
 * the tree ends, for the next guards.
 */
#include "swansong/base/record-private.h"

#include <stdalign.h>

#include "swansong/base/lock-private.h"

#define SHARDS	    16
#define LEVELS	    22
#define FIRST_LEVEL 64 /* slots */

/* All numbers fit into 32 bits. */
_Static_assert(((UINT64_C(1) << LEVELS) - 1) * FIRST_LEVEL * SHARDS < UINT32_MAX, "too many slots");

struct shard {
	alignas(64) struct lock lock;
	uint32_t slots;	     /* slots that have ever been used */
	uint32_t first_free; /* slot + 1, or 0 */
	struct record *level[LEVELS];
};

struct records {
	struct shard shard[SHARDS];
};

struct records *records_new(void)
{
	struct records *r = aligned_alloc(alignof(struct records), sizeof(*r));

	if (!r)
		return NULL;
	for (size_t i = 0; i < SHARDS; i++)
		r->shard[i] = (struct shard){ .lock = LOCK_INITIALIZER };
	return r;
}

struct records *records_free(struct records *r)
{
	if (!r)
		return NULL;
	for (size_t i = 0; i < SHARDS; i++) {
		for (size_t level = 0; level < LEVELS; level++)
			free(r->shard[i].level[level]);
	}
	return free_memory(r);
}

void records_hold(struct records *r)
{
	for (size_t i = 0; i < SHARDS; i++)
		lock_take(&r->shard[i].lock);
}

void records_release(struct records *r)
{
	for (size_t i = 0; i < SHARDS; i++)
		(void)lock_leave(&r->shard[i].lock);
}

static unsigned int records_level_of(uint32_t slot)
{
	return 31 - (unsigned int)__builtin_clz(slot / FIRST_LEVEL + 1);
}

static struct record *records_at(const struct shard *shard, uint32_t slot)
{
	unsigned int level = records_level_of(slot);

	return &shard->level[level][slot - FIRST_LEVEL * ((UINT32_C(1) << level) - 1)];
}

/* Returns a free slot + 1, or 0 if there is no memory for one. */
static uint32_t records_take_slot(struct shard *shard)
{
	uint32_t slot = shard->first_free;
	unsigned int level;

	if (slot) {
		shard->first_free = records_at(shard, slot - 1)->next_free;
		return slot;
	}
	level = records_level_of(shard->slots);
	if (level == LEVELS)
		return 0;
	if (!shard->level[level])
		shard->level[level] =
			calloc((size_t)FIRST_LEVEL << level, sizeof(*shard->level[level]));
	return shard->level[level] ? ++shard->slots : 0;
}

uint32_t records_add(struct records *r, const struct record *record)
{
	uint32_t number = processor_number() % SHARDS;
	struct shard *shard = &r->shard[number];
	uint32_t slot;

	lock_take(&shard->lock);
	slot = records_take_slot(shard);
	if (slot) {
		*records_at(shard, slot - 1) = *record;
		records_at(shard, slot - 1)->taker = thread_self();
	}
	(void)lock_leave(&shard->lock);
	return slot ? slot * SHARDS + number : 0;
}

bool records_remove(struct records *r, uint32_t number, const struct swansong *node)
{
	struct shard *shard = &r->shard[number % SHARDS];
	uint32_t slot = number / SHARDS;
	struct record *record;
	bool recorded;

	lock_take(&shard->lock);
	record = records_at(shard, slot - 1);
	recorded = record->node == node;
	if (recorded) {
		*record = (struct record){ .next_free = shard->first_free };
		shard->first_free = slot;
	}
	(void)lock_leave(&shard->lock);
	return recorded;
}

void records_adopt(struct records *r, uint32_t number)
{
	struct shard *shard = &r->shard[number % SHARDS];

	lock_take(&shard->lock);
	records_at(shard, number / SHARDS - 1)->taker = thread_self();
	(void)lock_leave(&shard->lock);
}

int records_copy(struct records *r, bool (*wanted)(const struct record *record, const void *arg),
		 const void *arg, struct record **ret, size_t *n_ret)
{
	cleanup(freep) struct record *array = NULL;
	size_t n = 0;

	for (size_t i = 0; i < SHARDS; i++) {
		struct shard *shard = &r->shard[i];
		struct record *more;

		lock_take(&shard->lock);
		more = reallocarray(array, n + shard->slots + 1, sizeof(*more));
		array = more ? more : array;
		for (uint32_t slot = 0; more && slot < shard->slots; slot++) {
			const struct record *record = records_at(shard, slot);

			if (record->node && wanted(record, arg))
				array[n++] = *record;
		}
		(void)lock_leave(&shard->lock);
		if (!more)
			return -ENOMEM;
	}
	*ret = take(array);
	*n_ret = n;
	return 0;
}
