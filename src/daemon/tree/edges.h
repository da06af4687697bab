#pragma once

/*
 * The ordering edges between the nodes of a tree.  A new configuration makes them anew, in two
 * steps: edges_prepare() builds them beside those in use and can fail; edges_commit() replaces
 * these and cannot fail.
 */

#include "daemon/tree/tree.h"

/*
 * Checks that @config forms no cycle with @more, which may be NULL, and with the nodes of @tree
 * that are not in @config: with those that stay, and if @leaving is set with all others, too.
 * Return: 0 with the mistakes in @diag; -ENOMEM; -E2BIG.
 */
int edges_check(const struct tree *tree, const struct config *config, bool leaving,
		const struct node_config *more, struct diag *diag);

/*
 * Builds the edges of all nodes of @tree, which must have all nodes of @config.  A node that is not
 * in @config keeps its edges; an edge to a leaving node is kept only between leaving nodes.
 * Leaving nodes lose their edges if these would form a cycle, in which no service would ever be
 * signalled.
 *
 * Return: 0, or -ENOMEM and nothing has changed.
 */
int edges_prepare(struct tree *tree, const struct config *config);
void edges_commit(struct tree *tree);

/*
 * Makes new @node require @target, which must form no cycle.  Return: 0, or -ENOMEM and @node must
 * be removed.
 */
int edges_require(struct node *node, struct node *target);

/* Gives @node, which has none, the edges of @from to other nodes.  Return: likewise. */
int edges_copy(struct node *node, const struct node *from);

/*
 * The run of @node becomes that of @successor, which has the same edges to other nodes: those to @node
 * lead to @successor, but of work that uses a run, which goes on to use it.  Return: 0; -ENOMEM, and
 * nothing has changed.
 */
int edges_exchange(struct node *node, struct node *successor);

/* Removes all edges from and to @node, which is about to be freed. */
void edges_remove(struct node *node);
