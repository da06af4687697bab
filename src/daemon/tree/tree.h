#pragma once

/* All nodes of the daemon, found by path.  How a reload changes them is in daemon/reload/plan.h. */

#include "daemon/service/object.h"

/* The reason why the tree ends without a request; written by daemon/tree/exit.c. */
struct ends {
	enum exit_when exit_when;
	struct service *cause; /* the tree ends with this service; or NULL */
	struct service *first; /* the first essential service that has ended, or NULL */
	bool any;	       /* a service has ended since exit_update_last() was last called */
	bool by_itself;	       /* the tree has ended before a stop was requested */
	bool given_up;	       /* the cause is a service that was given up */
	int former;	       /* the exit status of the cause before a fault; -1: not known */
	uint64_t entered[4];   /* the details of its row */
	unsigned place;
};

struct tree {
	struct context *ctx;
	struct config *config;	/* the latest */
	struct config *entered; /* of the row in the roster: that of the next image */
	unsigned place;		/* of the row */
	struct node *root;
	struct dict by_path;
	struct ends ends;
	unsigned sleepers; /* clients for which the host is going to sleep: daemon/demand/relief.h */
};

/*
 * Returns the node with @path, or the one with the run that has this claim; or NULL.  "" and "root" are the
 * root.
 */
struct node *tree_find(const struct tree *tree, const char *path);

/* Visits the rows of @kind of the former image; @node is the node of a row, and a row without a node is left out. */
#define tree_for_each_row(node, row, tree, kind)                                       \
	for (size_t at_ = 0; ((row) = roster_next((tree)->ctx->roster, kind, &at_));) \
		if (((node) = tree_find(tree, (row)->path)))

/*
 * Returns the service with the name in @claim, "web/app~3" for example; NULL: there is none, or no "~".  *number is the
 * text behind that.
 */
struct node *tree_find_section(const struct tree *tree, const char *claim, const char **number);

/* Returns the only node with a path that ends with "/@name"; NULL if there are none or several. */
struct node *tree_find_last(const struct tree *tree, const char *name);

/*
 * Finds suggestions for the unknown name @name: the paths that end with it, or else the closest
 * one.  Returns their number in @ret.
 */
#define TREE_SIMILAR_MAX 8
size_t tree_find_similar(const struct tree *tree, const char *name,
			 const char *ret[static TREE_SIMILAR_MAX]);

/* Returns true if @node is still in the tree after a reload with @config. */
bool tree_keeps(const struct node *node, const struct config *config);
