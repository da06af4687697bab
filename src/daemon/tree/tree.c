/*
 * Lookup of nodes by path and by name.  The dictionary holds each node under its full path; a
 * search by the last part of a path walks the tree, since only requests with an abbreviated name
 * need it.
 */
#include "daemon/tree/tree.h"

struct node *tree_find_section(const struct tree *tree, const char *claim, const char **number)
{
	size_t n = strcspn(claim, "~");
	char path[CONFIG_NAME_MAX + 1];
	struct node *node;

	if (!claim[n] || n >= sizeof(path))
		return NULL;
	*number = claim + n + 1;
	*(char *)mempcpy(path, claim, n) = '\0';
	node = dict_find(&tree->by_path, path);
	return node && node->service ? node : NULL;
}

struct node *tree_find(const struct tree *tree, const char *path)
{
	struct node *node =
		dict_find(&tree->by_path, strcmp(path, CONFIG_ROOT_NAME) == 0 ? "" : path);
	char own[CONFIG_NAME_MAX + 1];
	const char *number;

	/* A run keeps its claim while its node gets, or loses, the name of the section. */
	if (node)
		return node;
	node = tree_find_section(tree, path, &number);
	return node && strcmp(control_group_claim(&node->service->group, own), path) == 0 ? node
											  : NULL;
}

struct node *tree_find_last(const struct tree *tree, const char *name)
{
	struct node *found = NULL;

	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		if (!text_ends_in_parts(n->path, name))
			continue;
		if (found)
			return NULL;
		found = n;
	}
	return found;
}

static const char *tree_find_closest(const struct tree *tree, const char *name)
{
	const char **names = calloc(2 * tree->by_path.n + 1, sizeof(*names));
	const char *closest = NULL, *last;
	size_t n = 0;

	if (!names)
		return NULL;
	for (const struct node *i = tree->root; i; i = node_next(i, tree->root)) {
		last = strrchr(i->path, '/');
		names[n++] = i->path;
		if (last)
			names[n++] = last + 1;
	}
	closest = *name ? text_closest(name, names, n) : NULL;
	free(names);
	return closest;
}

size_t tree_find_similar(const struct tree *tree, const char *name,
			 const char *ret[static TREE_SIMILAR_MAX])
{
	const char *closest = tree_find_closest(tree, name);
	size_t n = 0;

	for (const struct node *i = tree->root; i && n < TREE_SIMILAR_MAX;
	     i = node_next(i, tree->root)) {
		const char *path = i->path;

		if (text_ends_in_parts(path, name) ||
		    (closest && (strcmp(path, closest) == 0 || text_ends_in_parts(path, closest))))
			ret[n++] = path;
	}
	return n;
}

/*
 * A transient node has no section of its own: it is kept as long as the node below which it was
 * made, or the node that its guards use.
 */
bool tree_keeps(const struct node *node, const struct config *config)
{
	struct node *const *required;

	while (node->goal != GOAL_GONE && !config_find(config, node->config->path)) {
		if (!node->transient)
			return false;
		required = node_edges(node, EDGE_REQUIRES);
		node = node_is_use(node) && required && *required ? *required : node->parent;
	}
	return config_find(config, node->config->path);
}
