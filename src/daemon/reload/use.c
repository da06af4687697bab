/*
 * All guards of work that uses the same node are on one node.  Its only edge leads to its sibling:
 * all that waits for it waits for this sibling, too, so that it closes no cycle.
 */
#include "daemon/reload/use.h"

#include "daemon/tree/build.h"
#include "daemon/tree/edges.h"
#include "model/config/transient.h"

#define USE_SUFFIX "+using"

static int use_make_node(struct tree *tree, struct node *used, const char *path, struct node **ret)
{
	cleanup(config_unrefp) struct config *config = NULL;
	struct node *node;
	int r = config_new_requirer(&config, path, used->config);

	if (r == 0)
		r = tree_add(tree, config, config_find(config, path), path, &node);
	if (r < 0)
		return r;
	r = edges_require(node, used);
	if (r < 0) {
		tree_remove(tree, node);
		return r;
	}
	node->transient = true;
	tree->ctx->configuration++;
	node_changed(node, "none", "");
	*ret = node;
	return 0;
}

int use_find(struct tree *tree, struct node *used, struct node **ret)
{
	char path[CONFIG_NAME_MAX + sizeof(USE_SUFFIX)], claim[CONFIG_NAME_MAX + 1];
	struct node *node;

	if (!used->parent)
		return USE_ROOT;
	if (node_is_use(used))
		return USE_OF_USE;
	/* A run that can be handed over keeps its claim, and the work that uses it. */
	(void)snprintf(path, sizeof(path), "%s" USE_SUFFIX,
		       used->service ? control_group_claim(&used->service->group, claim)
				     : used->path);
	if (strlen(path) > CONFIG_NAME_MAX)
		return USE_NAME;
	node = tree_find(tree, path);
	if (!node && node_is_stopped(used))
		return USE_STOPPED;
	if (!node)
		return use_make_node(tree, used, path, ret);
	*ret = node;
	return 0;
}

struct node *use_find_former(struct tree *tree, const char *path)
{
	struct node *node = tree_find(tree, path);
	size_t n = strlen(path), suffix = strlen(USE_SUFFIX);
	char used[CONFIG_NAME_MAX + 1];

	if (node || n <= suffix || strcmp(path + n - suffix, USE_SUFFIX) != 0)
		return node;
	(void)snprintf(used, sizeof(used), "%.*s", (int)(n - suffix), path);
	node = tree_find(tree, used);
	return node && use_make_node(tree, node, path, &node) == 0 ? node : NULL;
}

/*
 * The node is freed at once, so that the next guard finds no stopped node; but not in the middle of a stop, nor
 * at the end of the tree, when the report needs its edges.
 */
void use_end(struct tree *tree, struct node *node)
{
	bool is_stopped = node_is_stopped(node);

	if (!list_is_empty(&node->leases) || node_is_stopped(tree->root) ||
	    (is_stopped && !node->complete))
		return;
	if (!is_stopped) {
		node_count_draining(node, 1);
		swansong_shut_down(node->handle);
		node->complete = true;
		node_changed(node, "running", "");
	}
	tree_remove(tree, node);
}

const char *use_refusal_text(int r)
{
	switch (r) {
	case USE_ROOT:
		return "work cannot use the root, which contains all nodes: expected a node below it";
	case USE_OF_USE:
		return "the node only holds guards: expected the node that they use";
	case USE_NAME:
		return "the name is too long for a node of guards: at most 194 bytes";
	case USE_STOPPED:
		return "the node is stopped";
	default:
		return strerror(-r);
	}
}
