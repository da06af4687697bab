#pragma once

/*
 * Services without a section, made over the control socket below a group.  They are nodes as
 * others are and survive reloads with their group.  One that has ended is removed, unless it is
 * to be kept; a kept one is removed when it has been stopped.
 */

#include <stdio.h>

#include "daemon/tree/tree.h"
#include "model/config/transient.h"

/*
 * Makes the node and wants it to run.  Return: 0; or -errno and nothing has changed: -ENOENT and
 * -ESHUTDOWN for its parent, else @reason has been told why.
 */
int transient_add(struct tree *tree, const char *path, char *const *properties, char *const *argv,
		  bool keep, FILE *reason, struct node **ret);

/* Has its service come to its end, or been stopped for good? */
bool transient_has_ended(const struct node *node);

/* Lets go of those that have ended; once a turn, after all who want to know have been told. */
void transient_settle(struct tree *tree);
