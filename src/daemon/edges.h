#pragma once

/*
 * The ordering edges between the nodes of a tree, made anew from a configuration: first beside
 * those in use, which can fail, and then in their place, which cannot.
 */

#include "daemon/tree.h"

/*
 * Makes the edges that @config asks for between all nodes of @tree, which has all of @config's.  A
 * node that is not in @config keeps those it has; nothing but another such node has an edge to one
 * that is leaving.  Who is leaving has none any more where they would close a circle with what there
 * is now: in that nobody would ever be signalled.
 *
 * Return: 0, or -ENOMEM and nothing has changed.
 */
int edges_prepare(struct tree *tree, const struct config *config);

/* Puts them in the place of those in use; or forgets them. */
void edges_commit(struct tree *tree);
void edges_cancel(struct tree *tree);

/* @node is about to be freed: nobody has an edge to it any more. */
void edges_remove(struct node *node);
