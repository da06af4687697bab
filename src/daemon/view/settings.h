#pragma once

/* What the configuration says of a node, with the place of each setting. */

#include <jansson.h>

#include "daemon/tree/tree.h"

/* The reply to Show.  Without @trusted, values that may be secret are hidden.  NULL: no memory. */
json_t *settings_json(const struct tree *tree, const struct node *node, bool trusted);

/* The reply to Dependencies, for @node.  NULL: no memory. */
json_t *dependencies_json(const struct tree *tree, const struct node *node);
