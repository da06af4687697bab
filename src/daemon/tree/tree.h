#pragma once

/* All nodes of the daemon, found by path.  How a reload changes them is in daemon/reload/plan.h. */

#include <stddef.h>

#include "base/dict.h"
#include "daemon/node/node.h"
#include "daemon/service/object.h"

/* How the tree comes to its end by itself; written by daemon/tree/exit.c. */
struct ends {
	enum exit_when exit_when;
	struct service *cause; /* its end is that of the tree, or NULL */
	struct service *first; /* the first essential one that has ended, or NULL */
	bool any;	       /* a service has ended since the last look */
	bool by_itself;	       /* the tree has ended before it was asked to */
	bool given_up;	       /* ... because a service was given up */
};

struct tree {
	struct context *ctx;
	struct config *config; /* the latest */
	struct node *root;
	struct dict by_path;
	struct ends ends;
};

/* "" and "root" are the root.  NULL if there is none such. */
struct node *tree_find(const struct tree *tree, const char *path);

/* The only node whose path ends with "/@name"; NULL if there is none, or more than one. */
struct node *tree_find_last(const struct tree *tree, const char *name);

/*
 * The paths that @name may have been meant for, for "did you mean": those that end with it, or else
 * the closest one.  Returns how many there are in @ret.
 */
#define TREE_SIMILAR_MAX 8
size_t tree_find_similar(const struct tree *tree, const char *name,
			 const char *ret[static TREE_SIMILAR_MAX]);

/* Returns true if @node is still there after a reload with @config. */
bool tree_keeps(const struct node *node, const struct config *config);
