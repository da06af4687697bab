#pragma once

/* Lines of the history, of structs. */

#include "daemon/loop/context.h"
#include "proto/history/line.h"

/*
 * Adds @line to the history of @ctx, if there is one.  Holders without room in HISTORY_LINE_MAX are left
 * out.
 */
void history_write_line(struct context *ctx, struct history_line *line);
