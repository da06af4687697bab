#pragma once

/* Enabling and disabling services, whatever their sections have: see daemon/loop/disabled.h. */

#include "daemon/tree/tree.h"

/* The state file as it is read for a reload. */
struct enable_reading {
	struct disabled before; /* the set until now */
	bool kept;		/* the file cannot be read, so that set stays */
	bool garbage;		/* it is not a state file: no service is disabled */
};

/*
 * Reads the state file of @config, for all nodes of @tree and those to come; mistakes go to @log
 * unless it is NULL.  One of the other two functions follows in the same turn.
 */
void enable_begin(struct enable_reading *reading, struct tree *tree, const struct config *config,
		  struct log *log);

/* The reload is refused, or was only planned: the former set counts again. */
void enable_cancel(struct enable_reading *reading, struct tree *tree);

/* The reload is done, and @tree has its configuration. */
void enable_commit(struct enable_reading *reading, struct tree *tree);

/*
 * Begins to enable or disable the services in @node, as change *number.  A child process writes the
 * state file; the change takes effect when that is on the disk.  No service starts or stops.
 *
 * Return: 0; -EBUSY if an earlier change is being written; -ENOENT if there is no state file; or
 * -errno, and nothing has changed.
 */
int enable_set(struct tree *tree, struct node *node, bool enabled, unsigned *number);

/*
 * Returns the result of change @number: 0; -EINPROGRESS while it is being written; or -errno, and
 * nothing has changed.  The result is there until the turn after its end.
 */
int enable_result(const struct tree *tree, unsigned number);

/* At the end of the daemon: a change that is being written is left to its process. */
void enable_done(struct context *ctx);
