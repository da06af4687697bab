#pragma once

/* From a configuration to a tree with all that is around it. */

#include <sys/resource.h>

#include "daemon/main/state.h"

/*
 * The limit of descriptors becomes the highest that is allowed.  Returns true if it was another, which
 * is in *before: that of the services.
 */
bool daemon_raise_descriptor_limit(struct rlimit *before);

/*
 * What @d->options say.  Return: 0; -EINVAL if there are mistakes, which have been told; or -errno.
 */
int daemon_load(struct daemon *d, struct config **ret);

/*
 * Makes all that is needed to run @config; the first update turn starts it.  What there is by then, also
 * on failure, is in @d.  Return: 0; -EADDRINUSE, which has been told; or -errno.
 */
int daemon_start(struct daemon *d, struct config *config, struct parent_address *address);
