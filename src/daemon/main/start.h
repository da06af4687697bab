#pragma once

/* Makes the tree of a configuration and all objects around it. */

#include "daemon/main/state.h"

/*
 * Raises the limit of descriptors to the highest that is allowed.  Returns true if it has changed;
 * *before is the former limit, which services get.
 */
bool daemon_raise_descriptor_limit(struct rlimit *before);

/*
 * Loads the configuration that @d->options name.  Return: 0; -EINVAL if it has mistakes, which have
 * been logged; or -errno.
 */
int daemon_load(struct daemon *d, struct config **ret);

/*
 * Makes all that is needed to run @config; the first update turn starts it.  Objects that exist,
 * even after a failure, are in @d.  Return: 0; -EADDRINUSE, which has been logged; or -errno.
 */
int daemon_start(struct daemon *d, struct config *config, struct parent_address *address);
