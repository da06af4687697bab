#pragma once

/* How a service is known to be ready, or well. */

#include "model/values.h"

extern const struct value_type type_ready;
extern const struct value_type type_health;
extern const struct value_type type_interval;
extern const struct value_type type_retries;
extern const struct value_type type_on_unhealthy;

/*
 * Replaces what @probe says by what it means in the node @path.
 *
 * Return: 0; -EINVAL with the reason in *why; -ENOMEM.
 */
int probe_resolve(struct probe_config *probe, const char *path, const char **why);
