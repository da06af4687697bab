#pragma once

/*
 * Services that are asked for over the control socket, and stand in no file.  They are nodes as
 * others are, below a group that is there: they are stopped with it, ordered by their edges, and
 * survive reloads as long as it does.  One that has ended is gone, unless it is to be kept; a kept
 * one is gone when it has been stopped.
 */

#include <stdio.h>

#include "daemon/tree.h"
#include "model/transient.h"

/*
 * Makes the node and wants it to run.  Return: 0; or -errno and nothing has changed: -ENOENT and
 * -ESHUTDOWN for its parent, else @reason has been told why.
 */
int transient_add(struct tree *tree, const char *path, char *const *properties, char *const *argv,
		  bool keep, FILE *reason, struct node **ret);

/*
 * Do the edges of @config and those of the nodes here that a reload with it would leave close no
 * circle?  @more: one that is to come, or NULL.  Return: 0 and what is wrong is in @diag; -ENOMEM.
 */
int transient_check(const struct tree *tree, const struct config *config,
		    const struct node_config *more, struct diag *diag);

/* Has its service come to its end, or been stopped for good? */
bool transient_has_ended(const struct node *node);

/* Lets go of those that have ended; once a turn, after all who want to know have been told. */
void transient_settle(struct tree *tree);
