/*
 * Two nodes are compared key by key, by the function of the type.  A key counts only if it has an
 * effect in both.  The most far-reaching of the effects of the changed keys decides on a restart.
 */
#include "model/keys/diff.h"

/* Returns true if the key has an effect in both; an inherited key: if both run something. */
static bool diff_is_of_both(enum key_id key, const struct node_config *a,
			    const struct node_config *b)
{
	bool services = a->argv && b->argv;

	switch (keys[key].scope) {
	case SCOPE_NODE:
		return true;
	case SCOPE_SERVICE:
		return services || key == KEY_COMMAND;
	case SCOPE_INHERITED:
		return services || (node_config_hook(a, HOOK_FINAL)->n > 0 &&
				    node_config_hook(b, HOOK_FINAL)->n > 0);
	default:
		return false;
	}
}

/* Adds @key to @set if it differs.  Return: 1 or 0. */
static unsigned diff_add_changed(enum key_id key, const void *a, const void *b, struct key_set *set)
{
	if (type_equal(keys[key].type, key_field(&keys[key], a), key_field(&keys[key], b)))
		return 0;
	key_set_add(set, key);
	return 1;
}

unsigned node_config_diff(const struct node_config *a, const struct node_config *b,
			  struct key_set *ret)
{
	unsigned n = 0;

	*ret = (struct key_set){ 0 };
	for (enum key_id key = 0; key < N_KEYS; key++)
		n += diff_is_of_both(key, a, b) ? diff_add_changed(key, a, b, ret) : 0;
	return n;
}

unsigned config_diff(const struct config *a, const struct config *b, struct key_set *ret)
{
	unsigned n = 0;

	*ret = (struct key_set){ 0 };
	for (enum key_id key = 0; key < N_KEYS; key++)
		n += keys[key].scope == SCOPE_ROOT ? diff_add_changed(key, a, b, ret) : 0;
	return n;
}

enum key_apply key_set_apply(const struct key_set *set)
{
	enum key_apply most = APPLY_LIVE;

	for (enum key_id key = 0; key < N_KEYS; key++) {
		if (key_set_has(set, key) && keys[key].apply > most)
			most = keys[key].apply;
	}
	return most;
}

void key_set_remove_live(struct key_set *set)
{
	for (enum key_id key = 0; key < N_KEYS; key++) {
		if (keys[key].apply <= APPLY_IN_PLACE)
			set->words[key / 64] &= ~(UINT64_C(1) << (key % 64));
	}
}

bool node_config_needs_restart(const struct node_config *a, const struct node_config *b)
{
	struct key_set set;

	(void)node_config_diff(a, b, &set);
	return key_set_apply(&set) == APPLY_RESTART;
}

void key_print(FILE *file, const struct config *config, const struct node_config *node,
	       enum key_id key)
{
	const void *base = keys[key].scope == SCOPE_ROOT ? (const void *)config : node;

	type_print(keys[key].type, file, key_field(&keys[key], base));
}
