/*
 * The table of keys is made of model/base/table.h: each row becomes a key with the part and the
 * offset of its setting.
 */
#include "model/keys/keys.h"

#define WHOLE(part)	  PART_##part, 0
#define CONFIG(member)	  PART_CONFIG, offsetof(struct config, member)
#define NODE(member)	  PART_NODE, offsetof(struct node_config, member)
#define EXTRA(member)	  PART_EXTRAS, offsetof(struct extras, member)
#define EDGE(edge)	  PART_EDGES, offsetof(struct stated_edges, nodes[EDGE_##edge])
#define HOOK(hook)	  PART_HOOKS, offsetof(struct hooks, of[HOOK_##hook])
#define OUTPUT(member)	  PART_OUTPUTS, offsetof(struct outputs, member)
#define ATTRIBUTE(member) PART_ATTRIBUTES, offsetof(struct attributes, member)
#define SANDBOX(member)	  PART_SANDBOX, offsetof(struct sandbox, member)
#define LIMIT(resource)	  ATTRIBUTE(limits[RLIMIT_##resource])

const struct key keys[N_KEYS] = {
#define KEY(id, name, scope, type, place, reload, text) \
	{ name, SCOPE_##scope, &type_##type, place, APPLY_##reload },
#include "model/base/table.h"
};

enum key_id key_find(const char *name)
{
	enum key_id key = 0;

	while (key < N_KEYS && strcmp(keys[key].name, name) != 0)
		key++;
	return key;
}

const void *key_field(const struct key *key, const void *base)
{
	const void *part = key->part < N_PARTS ? node_config_part(base, key->part) : base;

	return (const char *)part + key->offset;
}

int key_inherit(const struct key *key, const struct node_config *stated, struct node_config *node)
{
	const void *from = key_field(key, stated);
	char *part = key->part < N_PARTS ? node_config_own_part(node, key->part) : (void *)node;

	if (!part)
		return -ENOMEM;
	if (key->type->inherit)
		return key->type->inherit(part + key->offset, from, node->path);
	memcpy(part + key->offset, from, key->type->size);
	return 0;
}

static enum key_id key_at(unsigned part, size_t offset)
{
	enum key_id key = 0;

	while (keys[key].part != part || keys[key].offset != offset)
		key++;
	return key;
}

enum key_id key_of_edge(enum edge edge)
{
	return key_at(PART_EDGES, edge * sizeof(struct node_config **));
}

enum key_id key_of_hook(enum hook_kind kind)
{
	return key_at(PART_HOOKS, kind * sizeof(struct commands));
}

const char *hook_name(enum hook_kind kind)
{
	return keys[key_of_hook(kind)].name;
}

const char *keys_limit_name(int resource)
{
	size_t limits = offsetof(struct attributes, limits);

	return keys[key_at(PART_ATTRIBUTES, limits + (size_t)resource * sizeof(struct rlimit))]
		.name;
}
