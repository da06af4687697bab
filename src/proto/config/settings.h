#pragma once

/* The settings of a node, with the place of each, for the daemon and for files without one. */

#include <jansson.h>

#include "model/config/config.h"

/*
 * The reply to Show, for @node of @config.  @transient: no file has it.  Without @trusted, values
 * that may be secret are hidden.  NULL: no memory.
 */
json_t *settings_json(const struct config *config, const struct node_config *node, bool transient,
		      bool trusted);
