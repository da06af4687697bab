#pragma once

/*
 * The daemon's own log in a file: a stream of the logger like the output of a service, with the
 * limits of the section of the root.  The daemon never waits for the disk.  Until the logger runs,
 * and while it cannot write the file, the log goes to standard error.
 */

#include "daemon/loop/context.h"

/*
 * Makes the log in the file @path.  @ctx has a logger, and logging_begin() has not been called.
 * Return: 0 or -ENOMEM.
 */
int own_log_new(struct own_log **ret, struct context *ctx, const struct node_config *root,
		const char *path);

/* Directs the log to standard error; the logger still writes the lines that are in the pipe. */
struct own_log *own_log_free(struct own_log *own);

/* Applies the limits of @root.  Return: 0 or -ENOMEM. */
int own_log_reload(struct own_log *own, const struct node_config *root);
