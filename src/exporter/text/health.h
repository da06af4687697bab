#pragma once

/*
 * The replies to probes: {"ok": true}, or {"ok": false, "reasons": ["web/api: starting"]} with at
 * most HEALTH_REASONS reasons.  NULL: out of memory.
 */

#include "exporter/mirror/copy.h"

#define HEALTH_REASONS 20

/* The daemon answers. */
json_t *health_live(bool up, bool *ret_ok);

/*
 * All services that are meant to run are ready and healthy, by the rules of swansongctl health, and
 * no shutdown has begun.
 */
json_t *health_ready(const struct copy *copy, bool up, bool *ret_ok);
