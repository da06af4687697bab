#include "daemon/tree.h"

#include <errno.h>
#include <search.h>
#include <string.h>

#include "daemon/edges.h"
#include "daemon/final.h"
#include "daemon/lease.h"

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

void tree_remove(struct tree *tree, struct node *node)
{
	edges_remove(node);
	lease_lose_all(node);
	(void)tdelete(node, &tree->by_path, compare_paths);
	node->service = service_free(node->service);
	node->final = final_free(node->final);
	node_free(node);
}

int tree_add(struct tree *tree, struct config *config, const struct node_config *nc,
	     struct node **ret)
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
	r = final_new(&node->final, node, nc);
	if (r >= 0 && nc->argv)
		r = service_new(&node->service, node, nc);
	if (r < 0) {
		tree_remove(tree, node);
		return r;
	}
	*ret = node;
	return 0;
}

int tree_init(struct tree *tree, struct context *ctx, struct config *config)
{
	int r = 0;

	*tree = (struct tree){ .ctx = ctx, .config = config_ref(config) };
	for (size_t i = 0; r == 0 && i < config->n_nodes; i++) {
		struct node *node;

		r = tree_add(tree, config, config->nodes[i], &node);
		if (r == 0 && !node->parent)
			tree->root = node;
	}
	if (r == 0)
		r = edges_prepare(tree, config);
	if (r == 0)
		edges_commit(tree);
	else
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
		tree_remove(tree, node);
	}
	tree->config = config_unref(tree->config);
}

static bool is_prunable(const struct node *node)
{
	if (!node->retired || !node->complete || !list_is_empty(&node->children))
		return false;
	/* An earlier generation may hold on when the present one is Complete. */
	return list_is_empty(&node->leases) && !final_is_pending(node) &&
	       !(node->service && (fsm_has_process(node->service->state) ||
				   !list_is_empty(&node->service->leftovers)));
}

void tree_prune(struct tree *tree, struct node *node)
{
	while (node && is_prunable(node)) {
		struct node *parent = node->parent;

		tree_remove(tree, node);
		node = parent;
	}
}
