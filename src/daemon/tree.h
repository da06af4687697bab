#pragma once

/* All nodes of the daemon: made from a configuration, found by path, changed by a reload. */

#include <stddef.h>

#include "daemon/node.h"
#include "daemon/service.h"

struct tree {
	struct context *ctx;
	struct config *config; /* the latest */
	struct node *root;
	void *by_path; /* tsearch(3) tree of struct node */
};

/* Return: 0 or -errno, and *tree is empty then. */
int tree_init(struct tree *tree, struct context *ctx, struct config *config);
void tree_done(struct tree *tree);

/* "" and "root" are the root.  NULL if there is none such. */
struct node *tree_find(const struct tree *tree, const char *path);

/* What a new configuration would change. */
struct tree_difference {
	unsigned added, removed, changed;
};

/*
 * Makes the nodes that are new in @config, and marks those that are gone as retired; a changed one
 * stays as it was, but needs nothing any more that is gone.  Nothing is started or stopped: that is
 * the caller's, with @added for each, and @removed for each that is gone, now or since an earlier
 * reload.  Return: 0 or -errno, and the tree is as before.
 */
int tree_reload(struct tree *tree, struct config *config, struct tree_difference *difference,
		void (*added)(struct node *node, void *arg),
		void (*removed)(struct node *node, void *arg), void *arg);

/*
 * Frees a retired node that is Complete, when nothing is left of the generations before it and
 * nothing is below it; and then its parents likewise.
 */
void tree_prune(struct tree *tree, struct node *node);
