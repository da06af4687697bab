#include "daemon/tree.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/final.h"
#include "model/diff.h"

static int compare_paths(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return strcmp(x->config->path, y->config->path);
}

struct node *tree_find(const struct tree *tree, const char *path)
{
	struct node_config config = { .path = (char *)(strcmp(path, "root") == 0 ? "" : path) };
	struct node key = { .config = &config };
	struct node *const *found = tfind(&key, &tree->by_path, compare_paths);

	return found ? *found : NULL;
}

static void forget(struct tree *tree, struct node *node)
{
	(void)tdelete(node, &tree->by_path, compare_paths);
	node->service = service_free(node->service);
	node->final = final_free(node->final);
	node_free(node);
}

static int add_node(struct tree *tree, struct config *config, const struct node_config *nc)
{
	struct node *parent = nc->parent ? tree_find(tree, nc->parent->path) : NULL;
	struct node *node = NULL;
	int r;

	r = node_new(&node, tree->ctx, config, nc, parent);
	if (r < 0)
		return r;
	if (!tsearch(node, &tree->by_path, compare_paths)) {
		node_free(node);
		return -ENOMEM;
	}
	if (!nc->parent)
		tree->root = node;
	r = final_new(node);
	if (r >= 0 && nc->argv)
		r = service_new(&node->service, node);
	if (r < 0)
		forget(tree, node);
	return r;
}

static int append(struct node ***list, struct node *node)
{
	size_t n = 0;
	struct node **more;

	while (*list && (*list)[n]) {
		if ((*list)[n] == node)
			return 0;
		n++;
	}
	more = realloc(*list, (n + 2) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	more[n] = node;
	more[n + 1] = NULL;
	*list = more;
	return 0;
}

/* The other end of an edge of this kind. */
static struct node ***other_end(struct node *target, enum edge edge)
{
	return edge == EDGE_TERM_AFTER ? &target->followers : &target->dependents;
}

static int link_edges(struct tree *tree, struct node *node, enum edge edge)
{
	struct node_config *const *targets = node->config->edges[edge];
	int r = 0;

	for (; r == 0 && targets && *targets; targets++) {
		struct node *target = tree_find(tree, (*targets)->path);

		r = append(&node->edges[edge], target);
		if (r == 0)
			r = append(other_end(target, edge), node);
	}
	return r;
}

/* Both ends of every edge of @node. */
static int link_node(struct tree *tree, struct node *node)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < N_EDGES; i++)
		r = link_edges(tree, node, i);
	return r;
}

static void unlink_from(struct node **list, const struct node *node)
{
	size_t to = 0;

	for (size_t from = 0; list && list[from]; from++) {
		if (list[from] != node)
			list[to++] = list[from];
	}
	if (list)
		list[to] = NULL;
}

static void unlink_edges(struct node *from, const struct node *to)
{
	for (size_t i = 0; i < N_EDGES; i++)
		unlink_from(from->edges[i], to);
}

static void unlink_survivors_of(struct node **list, const struct node *node)
{
	size_t to = 0;

	for (size_t i = 0; list && list[i]; i++) {
		if (list[i]->retired)
			list[to++] = list[i];
		else
			unlink_edges(list[i], node);
	}
	if (list)
		list[to] = NULL;
}

/* The edges to @node, which is gone, from nodes that are not: no new configuration has them. */
static void unlink_survivors(struct node *node)
{
	unlink_survivors_of(node->dependents, node);
	unlink_survivors_of(node->followers, node);
}

static void unlink_node(struct node *node)
{
	for (size_t e = 0; e < N_EDGES; e++)
		for (size_t i = 0; node->edges[e] && node->edges[e][i]; i++)
			unlink_from(*other_end(node->edges[e][i], e), node);
	for (size_t i = 0; node->dependents && node->dependents[i]; i++)
		unlink_edges(node->dependents[i], node);
	for (size_t i = 0; node->followers && node->followers[i]; i++)
		unlink_edges(node->followers[i], node);
}

int tree_init(struct tree *tree, struct context *ctx, struct config *config)
{
	int r = 0;

	*tree = (struct tree){ .ctx = ctx, .config = config_ref(config) };
	for (size_t i = 0; r == 0 && i < config->n_nodes; i++)
		r = add_node(tree, config, config->nodes[i]);
	for (struct node *n = r == 0 ? tree->root : NULL; r == 0 && n; n = node_next(n, tree->root))
		r = link_node(tree, n);
	if (r < 0)
		tree_done(tree);
	return r;
}

/* A node without children below @node, or @node itself. */
static struct node *deepest(struct node *node)
{
	while (!list_is_empty(&node->children))
		node = list_entry(node->children.next, struct node, sibling);
	return node;
}

void tree_done(struct tree *tree)
{
	while (tree->root) {
		struct node *node = deepest(tree->root);

		if (node == tree->root)
			tree->root = NULL;
		forget(tree, node);
	}
	tree->config = config_unref(tree->config);
}

/* Every node of @config that the tree does not have; all of them, or none. */
static int add_missing(struct tree *tree, struct config *config, bool *is_new)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < config->n_nodes; i++) {
		struct node *node = tree_find(tree, config->nodes[i]->path);

		is_new[i] = !node;
		if (!node)
			r = add_node(tree, config, config->nodes[i]);
		else if (node->retired)
			r = -EBUSY; /* the one before still drains under this name */
	}
	for (size_t i = 0; r == 0 && i < config->n_nodes; i++)
		if (is_new[i])
			r = link_node(tree, tree_find(tree, config->nodes[i]->path));
	if (r == 0)
		return 0;
	for (size_t i = config->n_nodes; i-- > 0;) {
		struct node *node = is_new[i] ? tree_find(tree, config->nodes[i]->path) : NULL;

		if (!node)
			continue;
		unlink_node(node);
		forget(tree, node);
	}
	return r;
}

int tree_reload(struct tree *tree, struct config *config, struct tree_difference *difference,
		void (*added)(struct node *node, void *arg),
		void (*removed)(struct node *node, void *arg), void *arg)
{
	bool *is_new = calloc(config->n_nodes, sizeof(*is_new));
	int r;

	if (!is_new)
		return -ENOMEM;
	r = add_missing(tree, config, is_new);
	if (r < 0) {
		free(is_new);
		return r;
	}
	*difference = (struct tree_difference){ 0 };
	for (size_t i = 0; i < config->n_nodes; i++) {
		struct node *node = tree_find(tree, config->nodes[i]->path);

		if (is_new[i]) {
			difference->added++;
			added(node, arg);
		} else if (!node_config_equal(node->config, config->nodes[i])) {
			difference->changed++;
		}
	}
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		if (n->retired || config_find(config, n->config->path))
			continue;
		n->retired = true;
		difference->removed++;
	}
	for (struct node *n = tree->root; n; n = node_next(n, tree->root)) {
		if (!n->retired)
			continue;
		unlink_survivors(n);
		removed(n, arg);
	}
	free(is_new);
	config_unref(tree->config);
	tree->config = config_ref(config);
	return 0;
}

static bool is_prunable(const struct node *node)
{
	if (!node->retired || !node->complete || !list_is_empty(&node->children))
		return false;
	/* An earlier generation may hold on when the present one is Complete. */
	return list_is_empty(&node->leases) && !final_is_pending(node) &&
	       !(node->service && fsm_has_process(node->service->state));
}

void tree_prune(struct tree *tree, struct node *node)
{
	while (node && is_prunable(node)) {
		struct node *parent = node->parent;

		unlink_node(node);
		forget(tree, node);
		node = parent;
	}
}
