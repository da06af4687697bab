#pragma once

/* All nodes of the daemon, found by path.  How a reload changes them is in daemon/plan.h. */

#include <stddef.h>

#include "base/dict.h"
#include "daemon/node.h"
#include "daemon/service.h"

struct tree {
	struct context *ctx;
	struct config *config; /* the latest */
	struct node *root;
	struct dict by_path;
};

/* Return: 0 or -errno, and *tree is empty then. */
int tree_init(struct tree *tree, struct context *ctx, struct config *config);
void tree_done(struct tree *tree);

/* "" and "root" are the root.  NULL if there is none such. */
struct node *tree_find(const struct tree *tree, const char *path);

/*
 * Makes the node of @nc, without edges, below the one of its parent, which is there.  Nothing is
 * started.
 * Return: 0 or -errno.
 */
int tree_add(struct tree *tree, struct config *config, const struct node_config *nc,
	     struct node **ret);

/* Frees a node that has nothing below it, no lease and no process. */
void tree_remove(struct tree *tree, struct node *node);

/*
 * Frees a retired node that is Complete, when nothing is left of the generations before it and
 * nothing is below it; and then its parents likewise.
 */
void tree_prune(struct tree *tree, struct node *node);
