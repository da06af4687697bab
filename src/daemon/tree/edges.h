#pragma once

/*
 * The ordering edges between the nodes of a tree, made anew from a configuration: first beside
 * those in use, which can fail, and then in their place, which cannot.
 */

#include "daemon/tree/tree.h"

/*
 * Checks that @config forms no cycle with @more, which may be NULL, and with the nodes of @tree that
 * are not in it: those that stay, with @leaving also the others.  Return: 0 and mistakes are in
 * @diag; -ENOMEM; -E2BIG.
 */
int edges_check(const struct tree *tree, const struct config *config, bool leaving,
		const struct node_config *more, struct diag *diag);

/*
 * Makes the edges that @config asks for between all nodes of @tree, which has all of @config's.  A
 * node that is not in @config keeps its edges; only another such node has an edge to one that is
 * leaving.  Leaving nodes lose their edges where these would form a cycle, in which no service would
 * ever be signalled.
 *
 * Return: 0, or -ENOMEM and nothing has changed.
 */
int edges_prepare(struct tree *tree, const struct config *config);

/* Puts them in the place of those in use; or forgets them. */
void edges_commit(struct tree *tree);
void edges_cancel(struct tree *tree);

/* @node is about to be freed: nobody has an edge to it any more. */
void edges_remove(struct node *node);
