#pragma once

/*
 * Stopping a part of the tree.  The stop is latched on all of it at once; the signals follow where
 * no ordering edge keeps them back; budgets see to an end; completion comes up by itself.
 */

#include "daemon/tree.h"

/*
 * Stops @node and all below it, and whatever requires any of that.  Harmless when it is stopped
 * already.  @reason is for the log.
 */
void shutdown_stop(struct tree *tree, struct node *node, const char *reason);

/*
 * Stops @node likewise, and starts what was stopped by that again as soon as it is Complete.  The
 * root cannot be restarted.
 */
void shutdown_restart(struct tree *tree, struct node *node, const char *reason);

/*
 * Several of these as one: only when all are latched follows what they mean for others, and signals
 * go out.  So the ordering edges between them hold, and it does not take longer for each the more
 * there are.
 */
struct shutdown_batch {
	struct tree *tree;
	uint64_t usec; /* when all of them are */
	bool any;
};

struct shutdown_batch shutdown_batch_begin(struct tree *tree);
void shutdown_batch_stop(struct shutdown_batch *batch, struct node *node, const char *reason);
void shutdown_batch_restart(struct shutdown_batch *batch, struct node *node, const char *reason);
void shutdown_batch_end(const struct shutdown_batch *batch);

/*
 * Before a restart that somebody has asked for by name: what in @node has been stopped for good is
 * to come back with it, as by a start.
 */
void shutdown_bring_back(struct node *node);

/*
 * @node has come, or was to be gone: if it is stopped, it comes as soon as it is Complete, with its
 * parent if that is to come back, too; below a parent that is not it stays as it is.
 */
void shutdown_revive(struct node *node);

/*
 * The kill phase now, for all of a stopped @node: processes are killed, leases revoked, and what
 * was left of its budget is gone.
 */
void shutdown_force(struct node *node);

/* Nothing helps: drops all guards below the root.  For the very end, when SIGKILL did not do. */
void shutdown_abandon(struct tree *tree);

/*
 * Looks after the nodes that have become Complete since the last time, and frees the retired ones.
 * Return: true if the root is among them.
 */
bool shutdown_follow(struct tree *tree);
