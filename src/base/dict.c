/*
 * A hash table of pointers with open addressing: a thing is in its home, the slot of its hash, or else in the
 * first free slot after that.  So no slot between the home and the thing is free, also after a removal.
 */
#include "base/dict.h"

#include <string.h>

#include "base/text.h"

#define SLOTS_MIN 16

static size_t dict_home_of(const struct dict *dict, const char *name)
{
	return text_hash(name) & (dict->n_slots - 1);
}

static size_t dict_next_slot(const struct dict *dict, size_t slot)
{
	return (slot + 1) & (dict->n_slots - 1);
}

/* The slot with @name, or the free slot for it. */
static size_t dict_slot_of(const struct dict *dict, const char *name)
{
	size_t slot = dict_home_of(dict, name);

	while (dict->slots[slot] && strcmp(dict->name_of(dict->slots[slot]), name) != 0)
		slot = dict_next_slot(dict, slot);
	return slot;
}

void dict_init(struct dict *dict, const char *(*name_of)(const void *thing))
{
	*dict = (struct dict){ .name_of = name_of };
}

void dict_done(struct dict *dict)
{
	free(dict->slots);
	dict_init(dict, dict->name_of);
}

void *dict_find(const struct dict *dict, const char *name)
{
	return dict->n > 0 ? dict->slots[dict_slot_of(dict, name)] : NULL;
}

static int dict_grow(struct dict *dict)
{
	struct dict more = *dict;

	more.n_slots = dict->n_slots ? dict->n_slots * 2 : SLOTS_MIN;
	more.slots = calloc(more.n_slots, sizeof(*more.slots));
	if (!more.slots)
		return -ENOMEM;
	for (size_t i = 0; i < dict->n_slots; i++) {
		void *thing = dict->slots[i];

		if (thing)
			more.slots[dict_slot_of(&more, dict->name_of(thing))] = thing;
	}
	free(dict->slots);
	*dict = more;
	return 0;
}

int dict_add(struct dict *dict, void *thing)
{
	int r = (dict->n + 1) * 4 > dict->n_slots * 3 ? dict_grow(dict) : 0;

	if (r < 0)
		return r;
	dict->slots[dict_slot_of(dict, dict->name_of(thing))] = thing;
	dict->n++;
	return 0;
}

void dict_remove(struct dict *dict, const char *name)
{
	size_t mask = dict->n_slots - 1, gap, slot;

	if (!dict_find(dict, name))
		return;
	gap = slot = dict_slot_of(dict, name);
	while (dict->slots[slot = dict_next_slot(dict, slot)]) {
		size_t home = dict_home_of(dict, dict->name_of(dict->slots[slot]));

		/* The thing moves to the gap unless the gap is before its home. */
		if (((slot - home) & mask) < ((slot - gap) & mask))
			continue;
		dict->slots[gap] = dict->slots[slot];
		gap = slot;
	}
	dict->slots[gap] = NULL;
	dict->n--;
}
