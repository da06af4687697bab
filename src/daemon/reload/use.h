#pragma once

/*
 * Guards of work that uses a node, such as a backup that reads a database: in a stop the node is
 * signalled only when the work is over.  They are held on a transient node without a service, which
 * requires the used one; so the order of a stop, budgets and views are those of all nodes.
 */

#include "daemon/tree/tree.h"

enum use_refusal {
	USE_ROOT = 1, /* the root cannot be required */
	USE_OF_USE,   /* the node is one of these transient nodes */
	USE_NAME,     /* the name of the transient node would be too long */
	USE_STOPPED,  /* the used node is stopped */
};

/*
 * Returns the node for guards of work that uses @used in @ret, and makes it if it is missing.  It
 * stands beside @used, has "+using" at the end of its name, which no section can have, and is
 * removed with its last guard.  A new one without a guard must be put on TASK_TRANSIENT.
 *
 * Return: 0; a use_refusal; -ENOMEM or another fault.
 */
int use_find(struct tree *tree, struct node *used, struct node **ret);

/* Returns the node at @path; if use_find() had made it before a fault, it is made again.  NULL: none. */
struct node *use_find_former(struct tree *tree, const char *path);

/* Frees @node, which use_find() has made, unless guards are held on it or the tree is stopped. */
void use_end(struct tree *tree, struct node *node);
const char *use_refusal_text(int r);
