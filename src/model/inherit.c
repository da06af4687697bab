#include "model/inherit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/keys.h"
#include "model/substitute.h"

const struct section *inherit_source(const struct section *sections, const struct node_config *node,
				     enum key_id key)
{
	for (; node; node = node->parent) {
		if (sections[node->index].lines[key])
			return &sections[node->index];
	}
	return NULL;
}

/* @stream: 0 to 2, or the log. */
#define STREAM_LOG 3

static int take_output(const struct section *from, size_t stream, struct node_config *node)
{
	const struct output *stated = stream == STREAM_LOG ? &from->log : &from->stdio[stream];
	struct outputs *outputs = node_config_own_outputs(node);
	struct output *to;

	if (!outputs)
		return -ENOMEM;
	to = stream == STREAM_LOG ? &outputs->log : &outputs->stdio[stream];
	to->kind = stated->kind;
	return stated->path ? substitute_text(stated->path, node->path, &to->path) : 0;
}

int inherit_outputs(const struct section *sections, struct node_config *node)
{
	const struct section *log = inherit_source(sections, node, KEY_LOG);
	int r = log ? take_output(log, STREAM_LOG, node) : 0;

	for (size_t i = 0; r == 0 && i < 3; i++) {
		const struct section *section = inherit_source(sections, node, KEY_STDIN + i);

		/* What is said of both, but nearer, counts before what is said of one. */
		if (i > 0 && section && log && log != section &&
		    node_config_is_within(log->node, section->node))
			continue;
		if (section)
			r = take_output(section, i, node);
	}
	return r;
}

/* How much of the attributes a key of @type fills. */
static size_t attribute_size(const struct value_type *type)
{
	if (type == &type_limit || type == &type_limit_size)
		return sizeof(struct rlimit);
	if (type == &type_capabilities)
		return sizeof(uint64_t);
	if (type == &type_cpus)
		return sizeof(cpu_set_t);
	return sizeof(int);
}

/* Whatever of @from stands there and is not @taken yet. */
static void take_attributes(struct attributes *to, const struct section *from, bool *taken)
{
	for (size_t i = 0; i < N_KEYS; i++) {
		const struct key *key = &keys[i];

		if (key->base != IN_ATTRIBUTES || !from->lines[i] || taken[i])
			continue;
		taken[i] = true;
		memcpy((char *)to + key->offset, (const char *)from->attributes + key->offset,
		       attribute_size(key->type));
	}
}

int inherit_attributes(const struct section *sections, struct node_config *node)
{
	bool taken[N_KEYS] = { false };

	for (const struct node_config *n = node; n; n = n->parent) {
		const struct section *section = &sections[n->index];

		if (!section->attributes)
			continue;
		if (!node->attributes && attributes_new(&node->attributes) < 0)
			return -ENOMEM;
		take_attributes(node->attributes, section, taken);
	}
	return 0;
}

static int copy_text(char **field, const char *text)
{
	if (!text)
		return 0;
	*field = strdup(text);
	return *field ? 0 : -ENOMEM;
}

static int take_groups(const struct section *groups, struct credentials *credentials)
{
	size_t size;

	credentials->set_groups = true;
	if (groups->n_groups == 0)
		return 0;
	size = groups->n_groups * sizeof(*groups->groups);
	credentials->groups = malloc(size);
	if (!credentials->groups)
		return -ENOMEM;
	memcpy(credentials->groups, groups->groups, size);
	credentials->n_groups = groups->n_groups;
	return 0;
}

int inherit_user(const struct section *sections, struct node_config *node, struct diag *diag)
{
	const struct section *user = inherit_source(sections, node, KEY_USER);
	const struct section *group = inherit_source(sections, node, KEY_GROUP);
	const struct section *groups = inherit_source(sections, node, KEY_GROUPS);
	struct credentials *credentials;

	if (!user && !group && !groups)
		return 0;
	if (!node_config_own_extras(node))
		return -ENOMEM;
	credentials = &node->extras->credentials;
	if (user && user->user.name) {
		const struct stated_user *stated = &user->user;

		credentials->set = true;
		credentials->uid = stated->uid;
		credentials->gid = stated->gid;
		if (copy_text(&credentials->user, stated->name) < 0 ||
		    copy_text(&credentials->home, stated->home) < 0 ||
		    copy_text(&credentials->shell, stated->shell) < 0)
			return -ENOMEM;
		if (!stated->has_gid && !group)
			section_error(
				user, diag, KEY_USER,
				"nobody has the number %s, so [%s] has no group, allowed with the key group",
				stated->name, node_config_section(node));
	}
	if (group) {
		credentials->set_group = true;
		credentials->gid = group->group;
	}
	return groups ? take_groups(groups, credentials) : 0;
}
