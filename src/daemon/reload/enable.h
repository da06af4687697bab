#pragma once

/* Enabling and disabling services, whatever their sections have: see daemon/loop/disabled.h. */

#include "daemon/tree/tree.h"

/* Reads the state file of @config again, for all nodes of @tree and those to come. */
void enable_read(struct tree *tree, const struct config *config);

/*
 * Enables or disables the services in @node, and writes the state file.  No service starts or stops.
 *
 * Return: 0; -ENOENT if there is no state file; or -errno, and nothing has changed.
 */
int enable_set(struct tree *tree, struct node *node, bool enabled);
