#pragma once

/*
 * The list of nodes as a tree.  A node belongs to the last one before it that has its parent's
 * path: there may be several generations of a path.  A node without a parent is a root.
 */

#include "proto/node-view.h"

#define FOREST_NONE SIZE_MAX

struct forest {
	const struct node_view *views;
	size_t parents[]; /* the index of each, or FOREST_NONE */
};

/* Borrows @views.  *ret is to be released by free().  Return: 0 or -ENOMEM. */
int forest_new(struct forest **ret, const struct node_view *views, size_t n);

/* The name within the parent. */
const char *forest_name(const struct forest *forest, size_t i);
