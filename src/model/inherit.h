#pragma once

/* What the services below a section take from it: the nearest section that has a key decides it. */

#include "model/section.h"

/* The section that decides @key for @node, or NULL.  @sections: one for each node, at its index. */
const struct section *inherit_source(const struct section *sections, const struct node_config *node,
				     enum key_id key);

/* Completes @node with its standard streams.  Return: 0 or -ENOMEM. */
int inherit_outputs(const struct section *sections, struct node_config *node);

/* Completes @node with its own attributes and those of the nodes above.  Return: 0 or -ENOMEM. */
int inherit_attributes(const struct section *sections, struct node_config *node);

/* As whom @node runs.  Return: 0 or -ENOMEM; a mistake goes to @diag. */
int inherit_user(const struct section *sections, struct node_config *node, struct diag *diag);
