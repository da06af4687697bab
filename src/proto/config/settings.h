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

/* Returns true if values of the key may be secret, and are hidden from clients that may only look. */
bool settings_are_secret(const char *key);

/* Returns the value of a key in a reply to Show, which it borrows from; NULL: the key has none. */
const char *settings_find(const json_t *reply, const char *key);
