#pragma once

/*
 * Things that are found by their names.  A thing has its name itself, which stays the same for as
 * long as it is in here; no two have the same.
 */

#include <stddef.h>

struct dict {
	const char *(*name_of)(const void *thing);
	void **slots; /* a power of two of them; NULL: nobody */
	size_t n_slots, n;
};

void dict_init(struct dict *dict, const char *(*name_of)(const void *thing));

/* The things are left alone. */
void dict_done(struct dict *dict);

/* NULL if there is none such. */
void *dict_find(const struct dict *dict, const char *name);

/* There is no such thing yet.  Return: 0 or -ENOMEM. */
int dict_add(struct dict *dict, void *thing);

/* Nothing happens if there is none such. */
void dict_remove(struct dict *dict, const char *name);
