#pragma once

/*
 * Makes, completes and frees the nodes of a tree.  Nodes without a section are freed once they are Complete.
 */

#include "daemon/tree/goals.h"

/*
 * Fills @tree with the nodes and edges of @config, of which it takes a reference; tree_done() frees
 * all of it.  Return: 0, or -errno and *tree is empty.
 */
int tree_init(struct tree *tree, struct context *ctx, struct config *config);
void tree_done(struct tree *tree);

/* Makes @config the latest one.  Takes a reference. */
void tree_use_config(struct tree *tree, struct config *config);

/*
 * From now on the next image of the daemon uses the latest configuration.  What that leads to, such as goals, is in
 * the roster by then: after a fault before this, a change begins again.
 */
void tree_enter_config(struct tree *tree);

/*
 * Makes the node of @nc below its parent's node, without edges.  @path: that of @nc, or of a run aside.
 * Return: 0 or -errno.
 */
int tree_add(struct tree *tree, struct config *config, const struct node_config *nc,
	     const char *path, struct node **ret);

/* Frees @node, which must have no child, no lease and no process. */
void tree_remove(struct tree *tree, struct node *node);

/*
 * TASK_COMPLETIONS: begins the final action of @node, or marks it as Complete.  Frees its service if it has
 * become a group, and the node if no section asks for it any more.
 */
void tree_process_completion(struct tree *tree, struct node *node);
