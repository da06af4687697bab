#pragma once

/* Making and freeing the nodes of a tree, which go when they are Complete. */

#include "daemon/tree/tree.h"

/* Return: 0 or -errno, and *tree is empty then. */
int tree_init(struct tree *tree, struct context *ctx, struct config *config);
void tree_done(struct tree *tree);

/* Makes the node of @nc below that of its parent, without edges.  Return: 0 or -errno. */
int tree_add(struct tree *tree, struct config *config, const struct node_config *nc,
	     struct node **ret);

/* Frees a node that has nothing below it, no lease and no process. */
void tree_remove(struct tree *tree, struct node *node);

/* The node is a group from now on; its service has no process. */
void tree_remove_service(struct tree *tree, struct node *node);

/* Frees @node if it has no section and nothing is left of it, and then its parents likewise. */
void tree_prune(struct tree *tree, struct node *node);
