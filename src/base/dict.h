#pragma once

/*
 * A dictionary of things by name.  The thing owns its name, which must not change while the thing
 * is in the dictionary.  Names are unique.
 */

#include <stddef.h>

struct dict {
	const char *(*name_of)(const void *thing);
	void **slots; /* a power of two of them; NULL: empty */
	size_t n_slots, n;
};

/* Defines @fn for dict_init(): the name of a @type is its @member. */
#define DEFINE_DICT_NAME(fn, type, member)            \
	static const char *fn(const void *thing)      \
	{                                             \
		return ((const type *)thing)->member; \
	}

void dict_init(struct dict *dict, const char *(*name_of)(const void *thing));

/* Frees the dictionary, not the things. */
void dict_done(struct dict *dict);

/* Returns NULL if no thing has the name. */
void *dict_find(const struct dict *dict, const char *name);

/* No thing may have the name yet.  Return: 0 or -ENOMEM. */
int dict_add(struct dict *dict, void *thing);

/* Does nothing if no thing has the name. */
void dict_remove(struct dict *dict, const char *name);
