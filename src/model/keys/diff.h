#pragma once

/*
 * The difference of two configurations, key by key.  The position in files is irrelevant; a missing
 * key equals a key with its default.
 */

#include "model/keys/keys.h"

struct key_set {
	uint64_t words[(N_KEYS + 63) / 64];
};

static inline bool key_set_has(const struct key_set *set, enum key_id key)
{
	return set->words[key / 64] >> (key % 64) & 1;
}

static inline void key_set_add(struct key_set *set, enum key_id key)
{
	set->words[key / 64] |= UINT64_C(1) << (key % 64);
}

/*
 * Finds the keys with different values in @a and @b, which may belong to different configurations.
 * Keys of services are compared if both are services; if only one is, KEY_COMMAND differs.
 *
 * Returns the number of keys.
 */
unsigned node_config_diff(const struct node_config *a, const struct node_config *b,
			  struct key_set *ret);

/* The same for the keys that only [swansong] has. */
unsigned config_diff(const struct config *a, const struct config *b, struct key_set *ret);

/* The strongest effect in @set: APPLY_RESTART before APPLY_NEXT_START before APPLY_LIVE. */
enum key_apply key_set_apply(const struct key_set *set);

/* Removes the keys that count for a run that began before they were changed. */
void key_set_remove_live(struct key_set *set);

/* Returns true if a process of @a has to be replaced for @b to count. */
bool node_config_needs_restart(const struct node_config *a, const struct node_config *b);

/*
 * Prints the value of @key for users, with inheritance and substitution; nothing if it is not set.
 * @node may be NULL for the keys of the whole daemon.
 */
void key_print(FILE *file, const struct config *config, const struct node_config *node,
	       enum key_id key);
