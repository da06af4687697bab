#pragma once

/*
 * What two configurations say differently, key by key.  Where something stands in the files does
 * not matter; a key that is left out and one that has its default are the same.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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
 * The keys whose values differ between @a and @b, which may belong to different configurations.
 * The keys of a service count where both are one; that only one of them is shows as KEY_COMMAND.
 *
 * Return: how many there are.
 */
unsigned node_config_diff(const struct node_config *a, const struct node_config *b,
			  struct key_set *ret);

/* The same for what stands in [swansong] only. */
unsigned config_diff(const struct config *a, const struct config *b, struct key_set *ret);

/* The most that a key of @set asks for: APPLY_RESTART before APPLY_NEXT_START before APPLY_LIVE. */
enum key_apply key_set_apply(const struct key_set *set);

/*
 * The value of @key as people read it, nothing if it is not set, and inherited or substituted as it
 * counts for @node.  @node may be NULL for the keys of the whole daemon.
 */
void key_print(FILE *file, const struct config *config, const struct node_config *node,
	       enum key_id key);

static inline bool node_config_equal(const struct node_config *a, const struct node_config *b)
{
	struct key_set set;

	return node_config_diff(a, b, &set) == 0;
}
