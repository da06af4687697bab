#pragma once

/* The edges between nodes. */

#include <jansson.h>

#include "daemon/tree/tree.h"

/* The reply to Dependencies, for @node.  NULL: no memory. */
json_t *dependencies_json(const struct tree *tree, const struct node *node);
