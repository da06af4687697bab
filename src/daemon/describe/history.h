#pragma once

/*
 * The history, swansong-report(5): a line for each end of a service and for each shutdown of the root,
 * made of the traces of daemon/loop/trace.h.
 */

#include "daemon/loop/context.h"

/* Turns the history on or off by @config.  After an error, which is logged, it is off. */
void history_use(struct context *ctx, const struct config *config);

/* Writes the ends that are on the list of the traces. */
void history_update(struct context *ctx);
